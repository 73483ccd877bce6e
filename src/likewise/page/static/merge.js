// Two groups that may be one: a card beside the question, which nobody has to look at.

import { carryOut } from "./app.js";
import { button, byId, el, fill, keyMark } from "./dom.js";
import { tile } from "./things.js";

/** @param {State} state */
export function showMerge({ suggestion }) {
  const box = byId("merge");
  box.hidden = !suggestion;
  if (!suggestion) return;
  const sides = [suggestion.left, suggestion.right];
  const [left, right] = sides.map(({ shown }) => shown[0].row);
  /** @type {(word: Word) => unknown} */
  const say = (word) => carryOut("suggestion", { left, right, answer: word });
  fill(box,
    sides.map((side) => el("span", { class: "merge-side" }, keyMark(side), side.shown.slice(0, 3).map((thing) => tile(thing, "eager")), side.name && el("b", { class: "cut", dir: "auto" }, side.name))),
    el("span", { class: "merge-ask" }, el("b", {}, "the same?"),
      button(["merge ", el("kbd", {}, "M")], () => say("same"), { class: "quiet", id: "merge-them" }),
      button(["leave apart ", el("kbd", {}, "L")], () => say("different"), { class: "quiet", id: "leave-apart" })));
}
