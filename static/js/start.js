// Starts every behaviour that finds its data-* attribute on this page. The page reads and submits
// without any of them.
import { startClock } from "./clock.js";
import { startDecision } from "./decision.js";
import { startEditor } from "./editor.js";
import { startFocus } from "./focus.js";
import { startKeys } from "./keys.js";
import { startLive } from "./live.js";
import { startLog } from "./log.js";
import { startPicker } from "./picker.js";

for (const start of [startClock, startFocus, startKeys, startLog, startPicker, startEditor, startDecision, startLive]) {
  start();
}
