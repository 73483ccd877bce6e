// Two groups that may be one: a card beside the question, which nobody has to look at.

import { carryOut } from "./app.js";
import { button, byId, el, fill, keyMark } from "./dom.js";
import { tile } from "./things.js";

/** @param {State} state */
export function showMerge({ suggestion, abouts = {} }) {
  const box = byId("merge");
  box.hidden = !suggestion;
  if (!suggestion) return;
  const sides = [suggestion.left, suggestion.right];
  const [left, right] = sides.map(({ shown }) => shown[0].row);
  /** @type {(word: Word) => unknown} */
  const say = (word) => carryOut("suggestion", { left, right, answer: word });
  const isSeen = sides.every(({ shown: [thing] }) => thing.image || thing.spark);
  // Texts and rows without a name are told apart by words.
  const words = (/** @type {Option} */ { name, group, shown: [thing] }) => name || (!isSeen && (abouts[String(group)] || thing.line || thing.title));
  fill(box,
    sides.map((side) => el("span", { class: isSeen ? "merge-side" : "merge-side in-words" }, keyMark(side), isSeen && side.shown.slice(0, 3).map((thing) => tile(thing, "eager")), el("b", { class: isSeen ? "unseen" : "cut", dir: "auto" }, words(side)))),
    el("span", { class: "merge-ask" }, el("b", {}, "The same?"),
      button(["merge ", el("kbd", {}, "M")], () => say("same"), { class: "quiet", id: "merge-them" }),
      button(["leave apart ", el("kbd", {}, "L")], () => say("different"), { class: "quiet", id: "leave-apart" })));
}
