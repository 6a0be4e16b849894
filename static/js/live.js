// Keeps the page current. The socket says what changed; the page fetches the server's own parts.
//
// Page:   <body data-live="/live/session/41/" data-seq="812">, where it stood when it was rendered;
//         <main data-parts="/sessions/41/parts/">, each part's root has data-part="<name>".
// Frames: see loops/hub.py. A part is fetched at <data-parts><name>/, several at once at
//         <data-parts><name>+<name>/ where the server knows that.
// A hole in the numbers, a lost socket, "lagged", "resync" and waking from sleep all lead to the same
// catch-up by plain HTTP: every part, then the log from its last piece.
import { engineTicked, serverNow, span, wallTime } from "./clock.js";
import { announce } from "./focus.js";
import { catchUpLog, isBeingRead, isPinned, onOutput } from "./log.js";

const STALE_AFTER = 5000, QUIET_AFTER = 60_000, DEAD_AFTER = 8000, SLEPT_AFTER = 15_000;
const FETCH_EVERY = 500, AGAIN_AFTER = 2000, LONGEST_WAIT = 30_000;
const page = {
  seq: null, suspect: null, socket: null, tries: 0, nextTry: 0, heardAt: Date.now(), lastLook: Date.now(),
  staleSince: 0, isPaused: false, missed: 0, pausedAt: 0, isSignedOut: false, isAway: false,
  wanted: new Set(), postponed: new Set(), unknown: new Set(), fetching: null, round: null, catchingUp: null, joins: true,
};

// --- parts ---------------------------------------------------------------------------------------

const base = () => document.querySelector("[data-parts]")?.dataset.parts;
const partOf = (name) => document.querySelector(`[data-part="${CSS.escape(name)}"]`);
const shown = () => [...document.querySelectorAll("[data-parts] [data-part]")].map((part) => part.dataset.part);

/** A part is never replaced while something in it is typed into, held open or read further up. */
function isInUse(part, name) {
  const focused = document.activeElement;
  if (part.contains(focused) && focused.matches("input, textarea, select")) return true;
  if (name === "iteration" && isBeingRead()) return true;
  return part.hasAttribute("data-keep-open") && Boolean(part.querySelector("details[open]"));
}

/** Fetch these parts soon; resolves when they are there, whatever is wanted by then. At most two
 *  rounds a second. */
function want(names) {
  for (const name of names) page.wanted.add(name);
  if (!page.wanted.size) return Promise.resolve();
  page.round ??= withResolvers();
  const { promise } = page.round;
  page.fetching ??= fetchRounds().finally(() => { page.fetching = null; });
  return promise;
}

function withResolvers() {
  const made = {};
  made.promise = new Promise((resolve) => { made.resolve = resolve; });
  return made;
}

async function fetchRounds() {
  while (page.wanted.size) {
    const names = [...page.wanted].filter(isFetchable), round = page.round;
    page.wanted.clear();
    page.round = null;
    if (names.length) await fetchTogether(names);
    round.resolve();
    await new Promise((done) => setTimeout(done, FETCH_EVERY));
  }
}

function isFetchable(name) {
  const part = partOf(name);
  if (!part || !base() || page.unknown.has(name)) return false;
  if (isInUse(part, name)) { postpone(name); return false; }
  return true;
}

function postpone(name) {
  if (!page.postponed.size) {
    setTimeout(() => {
      const names = [...page.postponed];
      page.postponed.clear();
      if (!page.isPaused) want(names);
    }, AGAIN_AFTER);
  }
  page.postponed.add(name);
}

async function fetchTogether(names) {
  if (page.joins && names.length > 1) {
    const found = await fetchParts(names);
    if (found !== 404) return;
    page.joins = false;
  }
  for (const name of names) if ((await fetchParts([name])) === 404) page.unknown.add(name);
}

async function fetchParts(names) {
  try {
    const answer = await fetch(`${base()}${names.join("+")}/${location.search}`, { headers: { "HX-Request": "true" } });
    if (answer.status === 404) return 404;
    page.isSignedOut = answer.status === 401;
    if (!answer.ok) throw new Error(String(answer.status));
    const box = document.createElement("template");
    box.innerHTML = (await answer.text()).trim();
    if (page.isAway) page.nextTry = Math.min(page.nextTry, Date.now()); // the server is back: no need to wait
    page.isAway = false;
    for (const fresh of [...box.content.children]) swap(fresh);
    return answer.status;
  } catch (fault) {
    page.isAway = true;
    for (const name of names) {
      const part = partOf(name);
      if (part) part.title = `As of ${wallTime(serverNow() - (Date.now() - page.heardAt))}: this part could not be loaded (${fault.message}).`;
      if (!page.isSignedOut) postpone(name);
    }
    return 0;
  }
}

function swap(fresh) {
  const name = fresh.dataset.part, part = name && partOf(name);
  if (!part) return;
  if (isInUse(part, name)) return postpone(name); // somebody began while it was on its way
  part.removeAttribute("title");
  if (name === "iteration" && keepsLog(part, fresh)) return swapAroundLog(part, fresh);
  const focus = part.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolls = [...part.querySelectorAll(".pane-b, .strip-scroll")].map((n) => [n.scrollTop, n.scrollLeft]);
  part.replaceWith(fresh);
  fresh.querySelectorAll(".pane-b, .strip-scroll").forEach((n, i) => { if (scrolls[i] && !n.dataset.log) [n.scrollTop, n.scrollLeft] = scrolls[i]; });
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  window.htmx?.process(fresh);
  document.dispatchEvent(new CustomEvent("part:swapped", { detail: { name } }));
}

const logIn = (part) => part.querySelector("[data-log]");

/** The same iteration as before: its log grows by pieces and is not drawn anew. */
function keepsLog(part, fresh) {
  const [old, now] = [logIn(part), logIn(fresh)];
  return old && now && old.dataset.log === now.dataset.log && old.hasAttribute("data-following") === now.hasAttribute("data-following");
}

function swapAroundLog(part, fresh) {
  for (const where of [".pane-h", ".tabs"]) {
    const [old, now] = [part.querySelector(where), fresh.querySelector(where)];
    if (old && now && !old.contains(document.activeElement)) old.replaceWith(now);
  }
}

/** A page pinned to an iteration that is over has nothing new to show of it. */
const followsIteration = () => !isPinned() || Boolean(partOf("iteration")?.hasAttribute("data-follows-live"));

// --- frames --------------------------------------------------------------------------------------

function onFrame(text) {
  const frame = JSON.parse(text);
  page.heardAt = Date.now();
  page.tries = 0;
  if (frame.engine) engineTicked();
  else if (frame.hello) { if (page.staleSince || frame.seq !== page.seq) catchUp(frame.seq); }
  else if (frame.resync) catchUp(frame.seq);
  else if (frame.lagged) catchUp(null);
  else if (page.isPaused) { if (!frame.beat) page.missed += 1; }
  else if (frame.beat) onBeat(frame.seq);
  else onChange(frame);
  if (page.staleSince && !page.catchingUp) catchUp(page.seq);
  show();
}

/** A beat may run ahead of frames on their way; two in a row while nothing came mean a loss. */
function onBeat(seq) {
  if (page.seq === null) page.seq = seq;
  if (seq === page.seq) page.suspect = null;
  else if (page.suspect === page.seq) catchUp(seq);
  else page.suspect = page.seq;
}

function onChange(frame) {
  if (page.seq !== null && frame.after !== page.seq) {
    if (frame.after !== null && frame.seq <= page.seq) return; // the page was rendered after it
    return catchUp(frame.seq);
  }
  page.seq = frame.seq;
  if (frame.output) { onOutput(frame.output); onSignOfLife(frame.output.at(-1)); }
  if (frame.parts) want(frame.parts.filter((name) => name !== "iteration" || followsIteration()));
}

/** The head's age of the newest output; what else silence changed there, the server says. */
function onSignOfLife(piece) {
  const age = partOf("status")?.querySelector("[data-since]");
  const wasQuiet = !age || serverNow() - Date.parse(age.dataset.since) > QUIET_AFTER;
  if (wasQuiet || !piece.at) want(["status"]);
  else age.dataset.since = piece.at;
}

/** Fetch everything. seq: where the page stands then; null = at whatever comes next. */
function catchUp(seq) {
  page.seq = seq;
  page.suspect = null;
  if (page.isPaused) { page.missed += 1; return Promise.resolve(); }
  if (page.catchingUp) { // what is on its way may be from before
    want(shown());
    catchUpLog().catch(() => {});
  }
  page.catchingUp ??= catchUpNow().catch(() => {}).finally(() => { page.catchingUp = null; show(); });
  return page.catchingUp;
}

async function catchUpNow() {
  const wasStale = page.staleSince;
  const [, lines] = await Promise.all([want(shown()), catchUpLog()]);
  if (page.isSignedOut || !isOpen() || Date.now() - page.heardAt > STALE_AFTER) return;
  page.staleSince = 0;
  if (wasStale) announce(lines ? `Caught up, ${lines} ${lines === 1 ? "line" : "lines"}.` : "Caught up.");
}

// --- socket --------------------------------------------------------------------------------------

const isOpen = () => page.socket?.readyState === WebSocket.OPEN;

function connect() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}${document.body.dataset.live}`);
  page.socket = socket;
  page.nextTry = 0;
  socket.addEventListener("open", () => { if (page.socket === socket) page.heardAt = Date.now(); });
  socket.addEventListener("message", (event) => { if (page.socket === socket) onFrame(event.data); });
  socket.addEventListener("close", () => { if (page.socket === socket) lost(); });
}

function lost() {
  page.socket = null;
  if (page.tries) catchUp(null); // a page whose socket never opens stays right, only later
  page.nextTry = Date.now() + Math.min(LONGEST_WAIT, 1000 * 2 ** page.tries) * (0.8 + Math.random() * 0.4);
  page.tries += 1;
  show();
}

/** Let go of a socket that says nothing any more; its own end may take minutes. */
function drop() {
  const socket = page.socket;
  lost();
  socket?.close();
}

function look() {
  const now = Date.now(), slept = now - page.lastLook > SLEPT_AFTER && !document.hidden;
  page.lastLook = now;
  if (slept || (now - page.heardAt > DEAD_AFTER && isOpen())) {
    page.staleSince ||= page.heardAt;
    drop();
    page.nextTry = now;
  }
  if (!page.socket && now >= page.nextTry) connect();
  show();
}

// --- what the person sees ------------------------------------------------------------------------

function show() {
  const quiet = Date.now() - page.heardAt;
  if (quiet > STALE_AFTER) page.staleSince ||= page.heardAt;
  const button = document.querySelector("[data-live-pill]");
  if (button) {
    const word = page.isPaused ? "Paused" : isOpen() && !page.staleSince ? "Live" : "Connecting";
    const age = page.isPaused ? (page.missed ? `${page.missed} waiting` : wallTime(page.pausedAt)) : span(quiet / 1000);
    button.querySelector("[data-live-word]").textContent = word;
    button.querySelector("[data-live-age]").textContent = age;
    button.classList.toggle("is-warn", word === "Connecting");
    button.classList.toggle("is-held", page.isPaused);
    button.setAttribute("aria-pressed", String(!page.isPaused));
  }
  showBanner();
}

function showBanner() {
  const banner = document.querySelector("[data-stale-banner]");
  if (!banner) return;
  banner.hidden = !page.staleSince;
  if (!page.staleSince) return;
  banner.querySelector("[data-stale-since]").textContent = wallTime(serverNow() - (Date.now() - page.staleSince));
  const left = Math.ceil((page.nextTry - Date.now()) / 1000);
  const next = page.isSignedOut ? "You are signed out: load the page to sign in." : left > 0 ? `Trying again in ${left} s.` : "Trying now.";
  banner.querySelector("[data-stale-next]").textContent = next;
}

function togglePause() {
  page.isPaused = !page.isPaused;
  page.missed = 0;
  page.pausedAt = serverNow();
  if (!page.isPaused) catchUp(null); // what came meanwhile is fetched now
  show();
}

export function startLive() {
  if (!document.body.dataset.live) return;
  page.seq = Number(document.body.dataset.seq);
  document.querySelector("[data-live-pill]")?.addEventListener("click", togglePause);
  document.querySelector("[data-load-now]")?.addEventListener("click", () => location.reload());
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  addEventListener("online", () => { page.nextTry = 0; look(); });
  connect();
  setInterval(look, 1000);
}
