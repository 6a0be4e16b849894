// The live log (data-log="<iteration>"). Lines come as the server's own HTML, each with data-seq, so
// a line that arrives twice (frame and catch-up) is shown once. It follows only if it was at the end;
// else "214 new lines" waits in the foot. At most 2,000 lines stay in the page.
const KEEP = 2000, NEAR = 24;
let unseen = 0;

const log = () => document.querySelector("[data-log]");
const atEnd = (node) => node.scrollHeight - node.scrollTop - node.clientHeight < NEAR;

export const newestSeq = () => Number(log()?.querySelector("li[data-seq]:last-of-type")?.dataset.seq || 0);

function showFoot(node, isFollowing) {
  const state = document.querySelector("[data-log-state]");
  if (state) {
    state.classList.toggle("k-run", isFollowing);
    state.classList.toggle("k-off", !isFollowing);
    state.lastElementChild.textContent = isFollowing ? "Following" : "Not following";
  }
  const button = document.querySelector("[data-log-new]");
  if (button) {
    button.hidden = unseen === 0;
    button.textContent = `${unseen.toLocaleString("en")} new ${unseen === 1 ? "line" : "lines"}`;
  }
}

/** Append the lines of `html` whose sequence is new. Returns how many were added. */
export function appendLines(html, iteration) {
  const node = log();
  if (!node || node.dataset.log !== String(iteration)) return 0;
  const wasAtEnd = atEnd(node);
  const box = document.createElement("template");
  box.innerHTML = html;
  const newest = newestSeq();
  const fresh = [...box.content.querySelectorAll("li[data-seq]")].filter((line) => Number(line.dataset.seq) > newest);
  if (!fresh.length) return 0;
  node.querySelector("li.meta:not([data-seq])")?.remove();
  node.append(...fresh);
  const lines = node.querySelectorAll("li[data-seq]");
  for (let i = 0; i < lines.length - KEEP && wasAtEnd; i++) lines[i].remove();
  const count = document.querySelector("[data-log-count]");
  if (count) count.textContent = Number(fresh.at(-1).id.slice(1)).toLocaleString("en");
  if (wasAtEnd) node.scrollTop = node.scrollHeight;
  else unseen += fresh.length;
  showFoot(node, wasAtEnd);
  return fresh.length;
}

/** Fetch what came after the newest line we have; repeats until nothing is left. */
export async function catchUpLog() {
  const node = log();
  if (!node?.hasAttribute("data-following")) return 0;
  let added = 0;
  for (;;) {
    const answer = await fetch(`${node.dataset.after}?after=${newestSeq()}`, { headers: { "HX-Request": "true" } });
    if (!answer.ok) throw new Error(`log: ${answer.status}`);
    const more = appendLines(await answer.text(), node.dataset.log);
    added += more;
    if (!more) return added;
  }
}

async function loadOlder(link) {
  const node = log(), height = node.scrollHeight;
  const answer = await fetch(link.href, { headers: { "HX-Request": "true" } });
  if (!answer.ok) return;
  const box = document.createElement("template");
  box.innerHTML = await answer.text();
  link.closest("li").replaceWith(box.content);
  node.scrollTop += node.scrollHeight - height; // time never moves the page
}

function attach() {
  const node = log();
  if (!node) return;
  unseen = 0;
  if (node.hasAttribute("data-following") && !location.hash) node.scrollTop = node.scrollHeight;
  node.addEventListener("scroll", () => {
    if (atEnd(node)) unseen = 0;
    showFoot(node, atEnd(node));
  }, { passive: true });
}

export function startLog() {
  attach();
  document.addEventListener("part:swapped", (event) => { if (event.detail.name === "iteration") attach(); });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-log-new]")) log().scrollTop = log().scrollHeight;
    const older = event.target.closest?.("[data-log-older]");
    if (older) { event.preventDefault(); loadOlder(older); }
  });
}
