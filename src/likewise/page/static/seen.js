// By what the items are grouped: their aspects, each with a switch, and how to get better ones.

import { app, carryOut } from "./app.js";
import { capital, el } from "./dom.js";

/** “grouped mostly by content, a little by layout”; before anything is known, by which aspects the items are seen. @param {State} state */
export function seenLine({ seen, grouped_by: words, aspects = [] }) {
  if (words) return words;
  const isLearned = aspects.some(({ weight }) => weight);
  // That they are somebody's own says nothing.
  return seen && !isLearned && seen.aspects[0]?.name !== "own" ? `seen by ${seen.aspects.map(({ name }) => name).join(" and ")}` : "";
}

/** The same with all that can be done about it. @param {State} state */
export function seenBox(state) {
  const { seen, aspects = [] } = state;
  /** @type {(name: string, isOn: boolean) => unknown} */
  const turn = (name, isOn) => carryOut("aspect", { aspect: name, is_on: isOn });
  const line = seenLine(state);
  return el("div", { class: "seen" },
    line && el("p", {}, `${capital(line)}.`),
    aspects.length > 1 && el("p", { class: "line" }, aspects.map(({ name, is_on: isOn }) => el("label", {}, el("input", { type: "checkbox", checked: isOn, on: { change: () => turn(name, !isOn) } }), ` ${name}`))),
    seen?.better && el("p", { class: "better" }, withCommands(seen.better)),
    seen?.notes.length && el("div", { class: "notes", role: "region", tabindex: 0, "aria-label": "What was left out or guessed" }, seen.notes.map((note) => el("p", {}, note))));
}

/** Beside the result, where there are better features than those in use. */
export const betterLine = () => app.state.seen?.better && el("p", { class: "hint better" }, withCommands(app.state.seen.better));

/** What is to be typed at a terminal looks like that, and is not broken. @param {string} words */
const withCommands = (words) => words.split(/(pip install "[^"]+"|--[\w-]+ [\w-]+)/).map((part, k) => (k % 2 ? el("code", {}, part) : part));
