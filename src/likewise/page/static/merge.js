// Two groups that may be one: a card beside the question, which nobody has to look at.

import { carryOut } from "./app.js";
import { button, byId, el, fill, keyMark } from "./dom.js";
import { tile } from "./things.js";

/** @param {State} state */
export function showMerge({ merges = [] }) {
  const box = byId("merge");
  const [suggested] = merges;
  box.hidden = !suggested;
  if (!suggested) return;
  const sides = [suggested.left, suggested.right];
  /** @type {(is: boolean) => unknown} */
  const say = (is) => carryOut(is ? "merge" : "apart", { groups: sides.map(({ group }) => group) });
  fill(box,
    sides.map((side) => el("span", { class: "merge-side" }, keyMark(side), side.shown.slice(0, 3).map((thing) => tile(thing, "eager")), side.name && el("b", { class: "cut", dir: "auto" }, side.name))),
    el("span", { class: "merge-ask" }, el("b", {}, "the same?"),
      button(["merge ", el("kbd", {}, "M")], () => say(true), { class: "quiet", id: "merge-them" }),
      button(["leave apart ", el("kbd", {}, "L")], () => say(false), { class: "quiet", id: "leave-apart" })));
}
