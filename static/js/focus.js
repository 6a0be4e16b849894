// Focus goes where the next act is: to the summary of errors, or to what a link's #hash names.
// A second step (data-second) closes by Escape or "Keep running" and gives focus back to its opener.
export const announce = (text) => {
  const region = document.getElementById("announce");
  if (region) region.textContent = text;
};

function closeSecond(details) {
  details.open = false;
  details.querySelector("summary")?.focus();
}

export function startFocus() {
  document.querySelector("[data-focus-first]")?.focus();
  const showClosers = () => document.querySelectorAll("[data-close-second]").forEach((b) => { b.hidden = false; });
  showClosers();
  document.addEventListener("part:swapped", showClosers);
  document.addEventListener("click", (event) => {
    const closer = event.target.closest?.("[data-close-second]");
    if (closer) closeSecond(closer.closest("[data-second]"));
    else for (const open of document.querySelectorAll("[data-second][open]")) if (!open.contains(event.target)) open.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const open = document.querySelector("[data-second][open]");
    if (open) { closeSecond(open); event.stopImmediatePropagation(); }
  });
}
