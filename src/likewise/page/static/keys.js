// Single keys, for the whole page and not for the element that has the focus.

import { answer, chooseKey, groupKeys, redo, undo } from "./ask.js";
import { byId, first, keyTyper } from "./dom.js";
import { letters } from "./settings.js";

/** @type {Record<string, Word | "none">} */
const ANSWERS = { s: "same", ArrowRight: "same", d: "different", ArrowLeft: "different", u: "unsure", ArrowDown: "unsure", 0: "none" };
/** @type {Record<string, string>} */
const PRESS = { "+": "zoom", "=": "zoom", b: "blink", o: "overlay" };

export function startKeys(/** @type {() => string} */ view) {
  document.addEventListener("keydown", (/** @type {any} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (first("dialog[open]") || event.target.closest?.("input, textarea, select")) return;
    if (act(event, view())) event.preventDefault();
  });
}

/** @type {(event: KeyboardEvent & { target: any }, view: string) => boolean} */
function act(event, view) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === "Escape") return run(() => (location.hash = view === "ask" ? "#result" : "#ask"));
  if (!letters.isOn) return false;
  if (key === "?") return run(() => byId("help-dialog").showModal());
  if (key === "z" && view !== "map") return run(event.shiftKey ? redo : undo);
  if (key === "Backspace" && view === "ask") return run(undo);
  // An open check question takes the same keys.
  const check = !byId("view-result").hidden && key in ANSWERS ? first(`.check .answer.${ANSWERS[key]}`) : null;
  if (check) return run(() => check.click());
  if (view !== "ask") return false;
  if (key === "ArrowDown" && scrolls(event.target)) return false;
  if (typed(key)) return true;
  if (key in ANSWERS) return run(() => answer(ANSWERS[key]));
  const button = key in PRESS ? byId(PRESS[key]) : null;
  button?.click();
  return button !== null;
}

const typed = keyTyper(groupKeys, chooseKey);

/** A long text that has the focus is scrolled by the arrows, as anywhere else. @param {any} target */
const scrolls = (target) => target.closest?.(".text, .table-box") && target.scrollHeight > target.clientHeight;

function run(/** @type {() => unknown} */ f) {
  f();
  return true;
}
