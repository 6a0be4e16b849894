// Ages and stopwatches tick locally from server time; only their digits change.
//   data-since="<time>"      "2 s", "4 min": how long ago
//   data-stopwatch="<time>"  "6:04": how long it has run
//   data-engine="<url>"      age of the engine's last tick, asked by plain HTTP, not by the socket
const SILENT_AFTER = 30, LATE_AFTER = 10, ASK_EVERY = 10_000;

let offset = 0; // server's clock minus ours, ms

export const serverNow = () => Date.now() + offset;

export const wallTime = (ms) =>
  new Date(ms).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  return s < 86400 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400)} d`;
}

function stopwatch(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
}

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function tick() {
  const now = serverNow();
  for (const node of document.querySelectorAll("[data-since]")) write(node, span((now - Date.parse(node.dataset.since)) / 1000));
  for (const node of document.querySelectorAll("[data-stopwatch]")) write(node, stopwatch((now - Date.parse(node.dataset.stopwatch)) / 1000));
  showEngine();
}

let lastTick = null; // our clock, ms, at which the engine last ticked; null = not known

function showEngine() {
  if (lastTick === null) return;
  const age = (Date.now() - lastTick) / 1000;
  for (const node of document.querySelectorAll("[data-engine-age]")) write(node, span(age));
  const vital = document.querySelector("[data-engine]");
  vital?.classList.toggle("is-bad", age > SILENT_AFTER);
  vital?.classList.toggle("is-warn", age > LATE_AFTER && age <= SILENT_AFTER);
  const banner = document.querySelector("[data-engine-banner]");
  if (banner) banner.hidden = age <= SILENT_AFTER;
}

/** The clock was heard just now, over the page's socket. */
export function engineTicked() {
  lastTick = Date.now();
  showEngine();
}

async function askEngine(url) {
  try {
    const answer = await fetch(url, { headers: { Accept: "application/json" } });
    if (answer.ok) {
      const { seconds } = await answer.json();
      if (typeof seconds === "number") lastTick = Date.now() - seconds * 1000;
    }
  } catch { /* offline: the age goes on growing from what was known */ }
  showEngine();
}

export function startClock() {
  const now = Date.parse(document.body.dataset.now || "");
  // data-now was written when the page was rendered; what has passed since then is our own measure.
  if (now) offset = now - (performance.timeOrigin + (performance.getEntriesByType("navigation")[0]?.responseStart || 0));
  const vital = document.querySelector("[data-engine]");
  if (vital) {
    askEngine(vital.dataset.engine);
    setInterval(() => askEngine(vital.dataset.engine), ASK_EVERY);
  }
  tick();
  setInterval(tick, 1000);
}
