// The requirement editor: line numbers follow the text (data-gutter), and leaving with unsaved words
// asks first (data-dirty).
export function startEditor() {
  const text = document.querySelector("[data-editor]");
  if (!text) return;
  const gutter = document.querySelector("[data-gutter]");
  const first = text.value;
  let isSending = false;
  const number = () => {
    const count = text.value.split("\n").length;
    text.rows = count + 1;
    if (gutter) gutter.textContent = Array.from({ length: count }, (_, i) => i + 1).join("\n");
  };
  number();
  text.addEventListener("input", number);
  text.form?.addEventListener("submit", () => { isSending = true; });
  addEventListener("beforeunload", (event) => {
    if (!isSending && text.value !== first) event.preventDefault();
  });
}
