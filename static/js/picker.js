// Citation picker: turns <select data-picker> into a combobox over its options (ARIA pattern with a
// list box). The select stays the value that is sent; without script it is the picker. A value is
// "R-12.3@4": the line and the version it was read at.
const keyOf = (option) => option.value.split("@")[0];
const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

function mark(text, needles) {
  const span = document.createElement("span");
  const lower = text.toLowerCase();
  let at = 0;
  const hits = needles.map((n) => [lower.indexOf(n), n.length]).filter(([i]) => i >= 0).sort((a, b) => a[0] - b[0]);
  for (const [start, length] of hits) {
    if (start < at) continue;
    const hit = document.createElement("mark");
    hit.className = "hl";
    hit.textContent = text.slice(start, start + length);
    span.append(text.slice(at, start), hit);
    at = start + length;
  }
  span.append(text.slice(at));
  return span;
}

function icon(name, extra) {
  const box = document.createElement("span");
  box.innerHTML = `<svg class="i i-s ${extra}" aria-hidden="true"><use href="#i-${name}"/></svg>`;
  return box.firstChild;
}

function enhance(select) {
  const options = [...select.options].filter((o) => o.value);
  const id = select.id;
  const box = document.createElement("div");
  box.className = "cite";
  box.innerHTML = `<div class="find"></div><ul class="hits" role="listbox" id="${id}_list" aria-label="Requirement lines" hidden></ul>`;
  const [find, list] = box.children;
  const input = Object.assign(document.createElement("input"), { type: "text", autocomplete: "off", placeholder: select.dataset.picker, id });
  for (const [name, value] of Object.entries({ role: "combobox", "aria-expanded": "false", "aria-controls": `${id}_list`, "aria-autocomplete": "list" })) input.setAttribute(name, value);
  find.append(icon("search", ""), input);
  select.id = `${id}_value`;
  select.hidden = true;
  select.after(box);
  let active = -1;

  const isOpen = () => !list.hidden;
  const open = (on) => { list.hidden = !on; input.setAttribute("aria-expanded", String(on)); };
  const choose = (option) => {
    select.value = option.value;
    input.value = option.text;
    select.dispatchEvent(new Event("change", { bubbles: true }));
    open(false);
  };
  const point = (to) => {
    const hits = [...list.querySelectorAll(".hit")];
    if (!hits.length) return;
    active = (to + hits.length) % hits.length;
    hits.forEach((hit, i) => hit.setAttribute("aria-selected", String(i === active)));
    hits[active].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", hits[active].id);
  };
  const show = () => {
    const needles = input.value === select.selectedOptions[0]?.text ? [] : words(input.value);
    const found = options.filter((o) => needles.every((n) => o.text.toLowerCase().includes(n))).slice(0, 30);
    list.replaceChildren(...found.map((option, i) => {
      const hit = document.createElement("li");
      hit.className = "hit";
      hit.id = `${id}_${i}`;
      hit.setAttribute("role", "option");
      hit.setAttribute("aria-selected", "false");
      const key = document.createElement("span");
      key.className = "key";
      key.textContent = keyOf(option);
      hit.append(option.value === select.value ? icon("check", "fg-ok") : document.createElement("span"), key, mark(option.text.replace(`${keyOf(option)} `, ""), needles));
      hit.dataset.value = option.value;
      hit.addEventListener("mousedown", (event) => { event.preventDefault(); choose(option); });
      return hit;
    }));
    if (!found.length) list.innerHTML = '<li class="none">No line has these words. File a spec bug instead.</li>';
    active = -1;
    input.removeAttribute("aria-activedescendant");
    open(true);
  };
  input.value = select.value ? select.selectedOptions[0].text : "";
  input.addEventListener("input", () => { select.value = ""; show(); });
  input.addEventListener("focus", show);
  input.addEventListener("blur", () => open(false));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { if (!isOpen()) show(); point(active + (event.key === "ArrowDown" ? 1 : active < 0 ? 0 : -1)); }
    else if (event.key === "Enter" && isOpen() && active >= 0 && !event.ctrlKey) choose(options.find((o) => o.value === list.querySelectorAll(".hit")[active].dataset.value));
    else if (event.key === "Escape" && isOpen()) open(false);
    else return;
    event.preventDefault();
  });
}

export const startPicker = () => document.querySelectorAll("select[data-picker]").forEach(enhance);
