// Single keys. Off in inputs, and when switched off (localStorage "keys" = "off").
//   data-key="p"        presses that button or link
//   data-nav="queue"    g then its first letter (l q t s) goes there
//   data-list, data-item  j k move through the items; Enter is the link's own
//   data-ctrl-enter, data-ctrl-s  send the form
const GO = { l: "loops", q: "queue", t: "tracker", s: "specs" };
let waitsForGo = 0;

const isTyping = (node) => node?.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]");

function isOff() {
  try { return localStorage.getItem("keys") === "off"; } catch { return false; }
}

function step(by) {
  const items = [...document.querySelectorAll("[data-list] [data-item]")].filter((item) => item.offsetParent);
  if (!items.length) return;
  let at = items.indexOf(document.activeElement);
  if (at < 0) at = items.findIndex((item) => item.hasAttribute("aria-current"));
  items[Math.min(items.length - 1, Math.max(0, at + by))].focus();
}

function onSend(event) {
  const form = event.target.closest?.("form");
  if (event.key === "Enter" && form?.matches("[data-ctrl-enter], [data-decide]")) form.requestSubmit();
  else if (event.key.toLowerCase() === "s" && document.querySelector("[data-ctrl-s]")) document.querySelector("[data-ctrl-s]").requestSubmit();
  else return;
  event.preventDefault();
}

function onKey(event) {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.ctrlKey || event.metaKey) return onSend(event);
  if (event.altKey || isTyping(event.target) || isOff()) return;
  const key = event.key;
  if (waitsForGo > Date.now()) {
    waitsForGo = 0;
    return document.querySelector(`[data-nav="${GO[key]}"]`)?.click();
  }
  if (key === "g") waitsForGo = Date.now() + 1200;
  else if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
  else if (key === ".") document.querySelector("[data-live-pill]")?.click();
  else if (/^[a-z0-9]$/.test(key)) {
    const choice = document.querySelector(`[data-choice-key="${key}"]:not(:disabled)`);
    if (choice) { choice.checked = true; choice.focus(); choice.dispatchEvent(new Event("change", { bubbles: true })); }
    else document.querySelector(`[data-key="${key}"]`)?.click();
  }
}

export const startKeys = () => document.addEventListener("keydown", onKey);
