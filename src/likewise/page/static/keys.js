// Single keys, for the whole page and not for the element that has the focus.

import { answer, chooseKey, chooseSeveral, forgetSeveral, groupKeys, redo, undo } from "./ask.js";
import { byId, every, first, keyTyper } from "./dom.js";
import { letters } from "./settings.js";

/** @type {Record<string, Word | "none">} */
const ANSWERS = { s: "same", ArrowRight: "same", d: "different", ArrowLeft: "different", u: "unsure", ArrowDown: "unsure", 0: "none" };
/** @type {Record<string, string>} */
const PRESS = { "+": "zoom", "=": "zoom", b: "blink", o: "overlay", "?": "help-button", "/": "find-group", m: "merge-them", l: "leave-apart" };

export function startKeys(/** @type {() => string} */ view) {
  document.addEventListener("keydown", (/** @type {any} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key === "Escape" && closeOne()) return event.preventDefault();
    if (event.target.closest?.("input, textarea, select")) return;
    // An open check question takes the same keys.
    const said = ANSWERS[nameOf(event)];
    const asked = letters.isOn && said && first(`dialog[open] .check .answer.${said === "none" ? "no-group" : said}`);
    if (asked) event.preventDefault();
    if (asked) return asked.click();
    if (first("dialog[open]")) return;
    const act = actOf(event, view());
    act?.();
    if (act) event.preventDefault();
  });
}

const nameOf = (/** @type {KeyboardEvent} */ { key }) => (key.length === 1 ? key.toLowerCase() : key);

/** Escape closes one thing at a time: a menu, then what is shown before it is done, then the dialog, by itself. */
function closeOne() {
  const top = every("dialog[open]").at(-1) ?? document.body;
  const menu = [...top.querySelectorAll("details.menu[open]")].at(-1);
  const shown = menu ?? top.querySelector("[data-closes]");
  if (menu) menu.open = false;
  else shown?.click();
  menu?.querySelector("summary").focus();
  return Boolean(shown);
}

/** What a key does, if it does anything. @type {(event: KeyboardEvent & { target: any }, view: string) => (() => unknown) | null} */
function actOf(event, view) {
  const key = nameOf(event);
  if (key === "Escape" && view === "ask" && forgetSeveral()) return () => {};
  if (key === "Escape") return () => (location.hash = view === "ask" ? "#result" : "#ask");
  if (!letters.isOn) return null;
  if (key === "z" && view !== "map") return event.shiftKey ? redo : undo;
  if (key === "Backspace" && view === "ask") return undo;
  const pressed = view === "ask" || key === "?" ? byId(PRESS[key]) : null;
  if (pressed?.checkVisibility()) return () => (pressed.type === "search" ? pressed.focus() : pressed.click());
  if (view !== "ask" || (key === "ArrowDown" && scrolls(event.target))) return null;
  // With Shift a key is one of several; the sign above a digit depends on the keyboard.
  const digit = event.shiftKey && /^Digit(\d)$/.exec(event.code)?.[1];
  if (typed(digit || key, event.shiftKey)) return () => {};
  if (key === "Enter" && !event.target.closest?.("button, a, summary")) return chooseSeveral;
  return key in ANSWERS ? () => answer(ANSWERS[key]) : null;
}

const typed = keyTyper(groupKeys, chooseKey);

/** A long text that has the focus is scrolled by the arrows, as anywhere else. @param {any} target */
const scrolls = (target) => target.closest?.(".text, .table-box") && target.scrollHeight > target.clientHeight;
