// The live log (data-log="<iteration>"). It grows by pieces of output, from frames or from the cursor
// (data-after, JSON); pieces are numbered, so one that comes twice is shown once and a hole is
// fetched. Lines are cut here as loops/reading/lines.py cuts them for the first paint; their text is
// only ever text. It follows only if it was at the end; else "214 new lines" waits in the foot.
const KEEP = 2000, NEAR = 24, LONGEST_LINE = 4000, LONGEST_REST = 65_536;
const ESCAPES = /(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|$)|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;
const REMOVED = /\[secret removed\]/;
const JSON_PLEASE = { headers: { Accept: "application/json" } };

const state = {
  node: null, seq: 0, number: 0, rest: "", open: null, unseen: 0, fetching: null, next: null,
  follows: true, height: 0, // whether a person left the log at its end; its height then
};

const log = () => document.querySelector("[data-log]");
const atEnd = (node) => node.scrollHeight - node.scrollTop - node.clientHeight < NEAR;
// How the lines of coding CLIs begin, as loops/reading/lines.py knows them.
const LOOKS = { "$ ": "cmd", "✗ ": "out bad", "! ": "meta" };
const lines = (node) => node.querySelectorAll("li[data-seq]");

/** The page shows one iteration for good, not always the newest. */
export const isPinned = () => location.pathname.includes("/iterations/");

/** Somebody reads further up: the log must stay where it is. */
export const isBeingRead = () => Boolean(state.node?.isConnected && !state.follows);

/** A log begins at its end, except where a permalink (#L12) or a pinned page says otherwise. */
const beginsAtEnd = (node) => node.hasAttribute("data-following") || !isPinned();
const isLinkedTo = (node) => Boolean(location.hash && node.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`));

function showFoot(node, isFollowing) {
  const foot = document.querySelector("[data-log-state]");
  if (foot) {
    foot.classList.toggle("k-run", isFollowing);
    foot.classList.toggle("k-off", !isFollowing);
    foot.lastElementChild.textContent = isFollowing ? "Following" : "Not following";
  }
  const button = document.querySelector("[data-log-new]");
  if (button) {
    button.hidden = state.unseen === 0;
    button.textContent = `${state.unseen.toLocaleString("en")} new ${state.unseen === 1 ? "line" : "lines"}`;
  }
  const count = document.querySelector("[data-log-count]");
  if (count) count.textContent = state.number.toLocaleString("en");
}

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

function write(message, raw) {
  const all = raw.replace(/\r+$/, "").replace(ESCAPES, "");
  let text = all.slice(all.lastIndexOf("\r") + 1);
  if (text.length > LONGEST_LINE) text = `${text.slice(0, LONGEST_LINE)} … (${(text.length - LONGEST_LINE).toLocaleString("en")} more characters, see Raw)`;
  message.replaceChildren();
  text.split(REMOVED).forEach((part, i) => {
    if (i) message.append(element("span", "cut", "secret removed"));
    if (part) message.append(part);
  });
}

function newLine() {
  state.number += 1;
  const line = element("li", "out");
  line.id = `L${state.number}`;
  line.append(element("time"), element("span", "src"), element("span", "msg"));
  return line;
}

/** Add one piece; returns how many lines it began. A line is of the piece that ends it. */
function addPiece(piece, into) {
  const texts = (state.rest + piece.text).split("\n"), rest = texts.pop();
  let begun = 0;
  const show = (text) => {
    const line = state.open ?? newLine();
    if (!state.open) { into.append(line); begun += 1; }
    state.open = null;
    line.className = LOOKS[text.slice(0, 2)] ?? "out";
    line.dataset.seq = piece.seq;
    line.firstElementChild.textContent = piece.clock;
    line.firstElementChild.dateTime = piece.at;
    write(line.lastElementChild, text);
    return line;
  };
  texts.forEach(show);
  if (rest) state.open = show(rest);
  state.rest = rest.slice(-LONGEST_REST);
  state.seq = piece.seq;
  return begun;
}

function addPieces(pieces) {
  const node = state.node, wasAtEnd = state.follows, into = document.createDocumentFragment();
  let begun = 0;
  for (const piece of pieces) begun += addPiece(piece, into);
  node.querySelector("li.meta:not([data-seq])")?.remove();
  node.append(into);
  if (wasAtEnd) {
    trim(node);
    node.scrollTop = node.scrollHeight;
  } else state.unseen += begun;
  showFoot(node, wasAtEnd);
  return begun;
}

/** At most KEEP lines stay; the ones before are a click away. */
function trim(node) {
  const all = lines(node);
  if (all.length <= KEEP) return;
  for (let i = 0; i < all.length - KEEP; i++) all[i].remove();
  let older = node.querySelector("[data-log-older]");
  if (!older) {
    const item = element("li", "log-older");
    older = element("a", "lk", "Older lines");
    older.dataset.logOlder = "";
    item.append(older);
    node.prepend(item);
  }
  older.href = `${node.dataset.after.replace(/output\/$/, "")}?before=${all[all.length - KEEP].id.slice(1)}`;
}

/** Pieces from a frame: [{iteration, seq, text?, at, clock}]; without text they are to be fetched. */
export function onOutput(pieces) {
  const node = state.node;
  if (!node?.isConnected) return;
  const mine = pieces.filter((piece) => String(piece.iteration) === node.dataset.log && piece.seq > state.seq);
  if (!mine.length) return;
  const fits = mine.every((piece, i) => piece.seq === state.seq + 1 + i && typeof piece.text === "string");
  if (fits && !state.fetching) addPieces(mine);
  else catchUpLog().catch(() => {}); // the next piece or beat tries again
}

/** Fetch what came after the newest piece we have. Returns how many lines were added by a fetch that
 *  began after the call; a stream that never rests does not keep it waiting. */
export function catchUpLog() {
  if (!state.node?.isConnected || !state.node.hasAttribute("data-following")) return Promise.resolve(0);
  if (state.fetching) {
    state.next ??= state.fetching.catch(() => 0).then(() => { state.next = null; return catchUpLog(); });
    return state.next;
  }
  const fetching = fetchPieces().finally(() => { if (state.fetching === fetching) state.fetching = null; });
  state.fetching = fetching;
  return fetching;
}

async function fetchPieces() {
  const node = state.node;
  let added = 0, more = true;
  while (more) {
    const answer = await fetch(`${node.dataset.after}?after=${state.seq}`, JSON_PLEASE);
    if (!answer.ok) throw new Error(`log: ${answer.status}`);
    const said = await answer.json();
    if (node !== state.node || !node.isConnected) return added;
    state.rest = said.rest;
    state.open = said.rest ? [...lines(node)].at(-1) ?? null : null;
    if (said.pieces.length) added += addPieces(said.pieces);
    more = said.more;
  }
  return added;
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

function onScroll() {
  const node = state.node;
  if (!node || node.clientHeight !== state.height) return; // its size moved it, no person did
  state.follows = atEnd(node);
  if (state.follows) state.unseen = 0;
  showFoot(node, state.follows);
}

/** A banner above, a turned phone: a log that was at its end stays there. */
const sizes = new ResizeObserver(() => {
  const node = state.node;
  if (!node) return;
  state.height = node.clientHeight;
  if (state.follows) node.scrollTop = node.scrollHeight;
});

function attach() {
  const node = log();
  if (node === state.node) return;
  const newest = node ? [...lines(node)].at(-1) : null;
  Object.assign(state, {
    node, unseen: 0, rest: "", open: null, fetching: null, next: null,
    seq: Number(newest?.dataset.seq || 0), number: Number(newest?.id.slice(1) || 0),
  });
  if (!node) return;
  if (beginsAtEnd(node) && !isLinkedTo(node)) node.scrollTop = node.scrollHeight;
  Object.assign(state, { follows: atEnd(node), height: node.clientHeight });
  sizes.disconnect();
  sizes.observe(node);
  node.addEventListener("scroll", onScroll, { passive: true });
  catchUpLog().catch(() => {}); // also learns how the last line goes on
}

export function startLog() {
  attach();
  document.addEventListener("part:swapped", attach);
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-log-new]")) log().scrollTop = log().scrollHeight;
    const older = event.target.closest?.("[data-log-older]");
    if (older) { event.preventDefault(); loadOlder(older); }
  });
}
