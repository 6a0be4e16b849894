// The button of a decision repeats the number that is typed: "Grant {} iterations, resume S-42".
export function startDecision() {
  const form = document.querySelector("[data-decide]");
  if (!form) return;
  for (const input of form.querySelectorAll("[data-says]")) {
    const say = form.querySelector(`.say-${input.dataset.says}`);
    if (!say?.dataset.saying.includes("{} ")) continue;
    const write = () => { say.textContent = input.value === "0" && say.dataset.sayingNone ? say.dataset.sayingNone : say.dataset.saying.replace("{} ", input.value ? `${input.value} ` : ""); };
    input.addEventListener("input", write);
    write();
  }
}
