// By what the items are grouped: their aspects, each with a switch, and how to get better ones.

import { app, carryOut } from "./app.js";
import { el } from "./dom.js";

/** “grouped mostly by content, a little by layout”; before anything is known, by which aspects the items are seen. @param {State} state */
export function seenLine({ seen, grouped_by: words, aspects = [] }) {
  if (words) return words;
  const isLearned = aspects.some(({ weight }) => weight);
  return seen && !isLearned ? `seen by ${seen.aspects.map(({ name }) => name).join(" and ")}` : "";
}

/** The same with all that can be done about it. @param {State} state */
export function seenBox(state) {
  const { seen, aspects = [] } = state;
  /** @type {(name: string, isOn: boolean) => unknown} */
  const turn = (name, isOn) => carryOut("aspect", { aspect: name, is_on: isOn });
  const line = seenLine(state);
  return el("div", { class: "seen" },
    line && el("p", {}, `${line.charAt(0).toUpperCase()}${line.slice(1)}.`),
    aspects.length > 1 && el("p", { class: "line" }, aspects.map(({ name, is_on: isOn }) => el("label", {}, el("input", { type: "checkbox", checked: isOn, on: { change: () => turn(name, !isOn) } }), ` ${name}`))),
    seen?.better && el("p", { class: "better" }, seen.better));
}

/** Beside the result, where there are better features than those in use. */
export const betterLine = () => app.state.seen?.better && el("p", { class: "hint better" }, app.state.seen.better);
