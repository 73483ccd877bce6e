// Single keys, for the whole page and not for the element that has the focus.

import { answer, chooseKey, groupKeys, redo, undo } from "./ask.js";
import { byId, first, keyTyper } from "./dom.js";
import { letters } from "./settings.js";

/** @type {Record<string, Word | "none">} */
const ANSWERS = { s: "same", ArrowRight: "same", d: "different", ArrowLeft: "different", u: "unsure", ArrowDown: "unsure", 0: "none" };
/** @type {Record<string, string>} */
const PRESS = { "+": "zoom", "=": "zoom", b: "blink", o: "overlay", "?": "help-button" };

export function startKeys(/** @type {() => string} */ view) {
  document.addEventListener("keydown", (/** @type {any} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (first("dialog[open]") || event.target.closest?.("input, textarea, select")) return;
    const act = actOf(event, view());
    act?.();
    if (act) event.preventDefault();
  });
}

/** What a key does, if it does anything. @type {(event: KeyboardEvent & { target: any }, view: string) => (() => unknown) | null} */
function actOf(event, view) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === "Escape") return () => (location.hash = view === "ask" ? "#result" : "#ask");
  if (!letters.isOn) return null;
  if (key === "z" && view !== "map") return event.shiftKey ? redo : undo;
  if (key === "Backspace" && view === "ask") return undo;
  // An open check question takes the same keys.
  const pressed = view === "result" && key in ANSWERS ? first(`.check .answer.${ANSWERS[key]}`) : (view === "ask" || key === "?") && byId(PRESS[key]);
  if (pressed) return () => pressed.click();
  if (view !== "ask" || (key === "ArrowDown" && scrolls(event.target))) return null;
  if (typed(key)) return () => {};
  return key in ANSWERS ? () => answer(ANSWERS[key]) : null;
}

const typed = keyTyper(groupKeys, chooseKey);

/** A long text that has the focus is scrolled by the arrows, as anywhere else. @param {any} target */
const scrolls = (target) => target.closest?.(".text, .table-box") && target.scrollHeight > target.clientHeight;
