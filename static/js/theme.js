// Theme: system, light, dark. A classic script in the head: it runs before first paint, so the page
// never flashes. Storage may be closed to us; then the choice lasts for this page.
(() => {
  const root = document.documentElement;
  const order = ["system", "light", "dark"];
  let chosen = "system";
  try { chosen = localStorage.getItem("theme") || chosen; } catch { /* no storage */ }
  const apply = () => chosen === "system" ? delete root.dataset.theme : (root.dataset.theme = chosen);
  apply();
  root.classList.add("scripted");
  addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-toggle]");
    if (!button) return;
    const name = () => { button.ariaLabel = button.title = `Theme: ${chosen}`; };
    name();
    button.addEventListener("click", () => {
      chosen = order[(order.indexOf(chosen) + 1) % order.length];
      try { localStorage.setItem("theme", chosen); } catch { /* no storage */ }
      apply();
      name();
    });
  });
})();
