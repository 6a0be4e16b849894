// Keeps the page current. The socket carries only what changed; the page fetches the server's parts.
//
// Page:   <body data-live="/live/session/41/" data-catch-up="/sessions/41/changes/" data-seq="812">
//         <main data-parts="/sessions/41/parts/">, each part's root has data-part="<name>".
// Frames: {"seq": 813, "changed": ["status", "rows"]}            parts to fetch again
//         {"seq": 814, "log": {"iteration": 58, "html": "<li …>"}}   output, as loops/_log_lines.html
//         {"beat": true} every 2 s · {"lagged": true}: frames were left out, catch up
// Catch-up (plain HTTP): GET <catch-up>?after=812 -> {"seq": 820, "changed": ["status", …]}.
// A gap in seq, a lost or lagged socket, and waking from sleep all lead to the same catch-up.
import { serverNow, span, wallTime } from "./clock.js";
import { announce } from "./focus.js";
import { appendLines, catchUpLog } from "./log.js";

const STALE_AFTER = 5000, ASK_EVERY = 4000, FETCH_EVERY = 500, LONGEST_WAIT = 30_000;
const page = {
  seq: 0, socket: null, tries: 0, heardAt: Date.now(), askedAt: Date.now(), staleSince: 0, isPaused: false, missed: 0,
  wanted: new Set(), isFetching: false, nextTry: 0, isCatchingUp: false,
};
const pill = () => document.querySelector("[data-live-pill]");

function want(names) {
  if (page.isPaused) { page.missed += names.length; return show(); }
  for (const name of names) page.wanted.add(name);
  if (!page.isFetching) fetchParts();
}

async function fetchParts() {
  const base = document.querySelector("[data-parts]")?.dataset.parts;
  page.isFetching = true;
  while (page.wanted.size && base) {
    const names = [...page.wanted];
    page.wanted.clear();
    await Promise.all(names.map((name) => fetchPart(base, name)));
    await new Promise((done) => setTimeout(done, FETCH_EVERY));
  }
  page.isFetching = false;
}

/** A part is never replaced while something in it is typed into or held open. */
function isInUse(part) {
  const focused = document.activeElement;
  if (part.contains(focused) && focused.matches("input, textarea, select")) return true;
  return part.hasAttribute("data-keep-open") && part.querySelector("details[open]");
}

async function fetchPart(base, name) {
  const part = document.querySelector(`[data-part="${name}"]`);
  if (!part) return;
  if (name === "iteration" && !part.hasAttribute("data-follows-live")) return; // another one is pinned
  if (isInUse(part)) { setTimeout(() => want([name]), 2000); return; }
  try {
    const answer = await fetch(`${base}${name}/${location.search}`, { headers: { "HX-Request": "true" } });
    if (!answer.ok) throw new Error(String(answer.status));
    swap(part, name, await answer.text());
  } catch (fault) {
    part.title = `As of ${wallTime(page.heardAt)}: this part could not be loaded (${fault.message}).`;
  }
}

function swap(part, name, html) {
  const box = document.createElement("template");
  box.innerHTML = html.trim();
  const fresh = box.content.firstElementChild;
  if (!fresh) return;
  const focus = part.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolls = [...part.querySelectorAll(".pane-b, .strip-scroll")].map((n) => [n.scrollTop, n.scrollLeft]);
  part.replaceWith(fresh);
  fresh.querySelectorAll(".pane-b, .strip-scroll").forEach((n, i) => { if (scrolls[i]) [n.scrollTop, n.scrollLeft] = scrolls[i]; });
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  window.htmx?.process(fresh);
  document.dispatchEvent(new CustomEvent("part:swapped", { detail: { name } }));
}

function onFrame(text) {
  const frame = JSON.parse(text);
  page.heardAt = Date.now();
  if (page.staleSince) recover();
  if (frame.lagged || (frame.seq && frame.seq > page.seq + 1)) return catchUp();
  if (frame.seq && frame.seq <= page.seq) return; // seen already
  if (frame.seq) page.seq = frame.seq;
  if (frame.log && !page.isPaused) appendLines(frame.log.html, frame.log.iteration);
  else if (frame.log) page.missed += 1;
  if (frame.changed?.length) want(frame.changed);
  show();
}

async function catchUp() {
  if (page.isCatchingUp) return;
  page.isCatchingUp = true;
  page.askedAt = Date.now();
  try {
    const answer = await fetch(`${document.body.dataset.catchUp}?after=${page.seq}`, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const now = await answer.json();
    page.seq = Math.max(page.seq, now.seq);
    page.heardAt = Date.now();
    want(now.changed);
    if (!page.isPaused) {
      const lines = await catchUpLog();
      if (page.staleSince) announce(lines ? `Caught up, ${lines} lines.` : "Caught up.");
    }
    recover();
  } catch { /* the timer tries again */ }
  page.isCatchingUp = false;
  show();
}

function recover() {
  page.staleSince = 0;
  page.tries = 0;
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}${document.body.dataset.live}?after=${page.seq}`);
  page.socket = socket;
  socket.addEventListener("open", catchUp);
  socket.addEventListener("message", (event) => onFrame(event.data));
  socket.addEventListener("close", () => {
    if (page.socket !== socket) return;
    page.socket = null;
    const wait = Math.min(LONGEST_WAIT, 1000 * 2 ** page.tries++) * (0.8 + Math.random() * 0.4);
    page.nextTry = Date.now() + wait;
    setTimeout(connect, wait);
    show();
  });
}

function show() {
  const isOpen = page.socket?.readyState === WebSocket.OPEN;
  const quiet = Date.now() - page.heardAt;
  if (quiet > STALE_AFTER && !page.staleSince) page.staleSince = page.heardAt;
  const button = pill();
  if (button) {
    const word = page.isPaused ? "Paused" : isOpen && !page.staleSince ? "Live" : "Connecting";
    button.querySelector("[data-live-word]").textContent = word;
    button.querySelector("[data-live-age]").textContent = page.isPaused ? (page.missed ? `${page.missed} waiting` : "") : span(quiet / 1000);
    button.classList.toggle("is-warn", word === "Connecting");
    button.classList.toggle("is-held", page.isPaused);
    button.setAttribute("aria-pressed", String(!page.isPaused));
  }
  const banner = document.querySelector("[data-stale-banner]");
  if (!banner) return;
  banner.hidden = !page.staleSince;
  if (!page.staleSince) return;
  banner.querySelector("[data-stale-since]").textContent = wallTime(serverNow() - (Date.now() - page.staleSince));
  const left = Math.ceil((page.nextTry - Date.now()) / 1000);
  banner.querySelector("[data-stale-next]").textContent = left > 0 ? `Trying again in ${left} s.` : "Trying now.";
}

function togglePause() {
  page.isPaused = !page.isPaused;
  if (page.isPaused) page.heldAt = page.seq;
  else { page.missed = 0; page.seq = page.heldAt; catchUp(); } // what came meanwhile is fetched now
  show();
}

function watch() {
  const slept = Date.now() - page.lastLook > 15_000; // a page that slept is stale until its first fetch
  page.lastLook = Date.now();
  // Without a socket the page goes on by plain HTTP, so what it shows is at most 5 s old.
  const isDeaf = page.socket?.readyState !== WebSocket.OPEN || page.staleSince;
  if (slept || (isDeaf && Date.now() - page.askedAt > ASK_EVERY)) catchUp();
  show();
}

export function startLive() {
  if (!document.body.dataset.live) return;
  page.seq = Number(document.body.dataset.seq);
  page.lastLook = Date.now();
  pill()?.addEventListener("click", togglePause);
  document.querySelector("[data-load-now]")?.addEventListener("click", () => location.reload());
  connect();
  setInterval(watch, 1000);
}
