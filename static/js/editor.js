// The requirement editor. With script the text wraps and the line numbers (data-gutter) keep beside
// their lines: a hidden mirror measures each line's height. Without it lines scroll sideways.
// Leaving with unsaved words asks first. Very long texts (class "long") scroll in their own field.
function mirrorOf(text) {
  const mirror = document.createElement("div");
  mirror.className = "mirror";
  mirror.setAttribute("aria-hidden", "true");
  text.after(mirror);
  const style = getComputedStyle(text);
  for (const name of ["font", "letterSpacing", "tabSize"]) mirror.style[name] = style[name];
  return mirror;
}

export function startEditor() {
  const text = document.querySelector("[data-editor]");
  if (!text) return;
  const gutter = document.querySelector("[data-gutter]");
  const first = text.value;
  let isSending = false;
  text.form?.addEventListener("submit", () => { isSending = true; });
  addEventListener("beforeunload", (event) => {
    if (!isSending && text.value !== first) event.preventDefault();
  });
  if (text.classList.contains("long")) return; // thousands of lines: measured, each key would wait
  text.classList.add("wraps");
  text.wrap = "soft";
  const mirror = mirrorOf(text);
  const number = () => {
    const style = getComputedStyle(text);
    mirror.style.width = `${text.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)}px`;
    mirror.replaceChildren(...text.value.split("\n").map((line) => Object.assign(document.createElement("div"), { textContent: line })));
    const heights = [...mirror.children].map((line) => line.getBoundingClientRect().height);
    gutter?.replaceChildren(...heights.map((height, i) => {
      const label = Object.assign(document.createElement("span"), { textContent: i + 1 });
      label.style.height = `${height}px`;
      return label;
    }));
    const padding = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
    text.style.height = `${Math.ceil(heights.reduce((sum, height) => sum + height, 0) + padding)}px`;
  };
  number();
  text.addEventListener("input", number);
  addEventListener("resize", number);
}
