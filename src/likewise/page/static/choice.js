// One item and the groups it may belong to: press the number of its group.

import { el } from "./dom.js";
import { openGroup } from "./group.js";
import { partsOf } from "./pair.js";
import { tile } from "./things.js";

export function showChoice(box, tools, question, choose) {
  box.className = "pair choice";
  if (question.groups.every(hasFields)) sortFields(question);
  box.replaceChildren(
    el("figure", { class: "side" }, ...partsOf(question.item), el("figcaption", { dir: "auto" }, question.item.heading)),
    el("ol", { class: "options" }, ...question.groups.map((group, place) => option(group, place, choose))));
  tools.replaceChildren();
}

function option(group, place, choose) {
  const name = group.name || `Group ${place + 1}`;
  return el("li", { class: "option" },
    el("button", { type: "button", class: "choose", on: { click: () => choose(place) } },
      el("span", { class: "option-title" }, el("kbd", {}, `${place + 1}`), el("b", { dir: "auto" }, name)),
      hasFields(group) ? values(group.shown) : el("span", { class: "tiles" }, ...group.shown.map((thing) => tile(thing)))),
    el("button", { type: "button", class: "quiet all", ariaLabel: `All ${group.size} members of ${name}`, on: { click: () => openGroup(group.group) } }, `All ${group.size.toLocaleString("en")}`));
}

const hasFields = (group) => group.shown.every((thing) => thing.view?.fields?.length);

// Fields in which the groups are furthest apart come first, since not all have room.
function sortFields({ item, groups }) {
  const mean = (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
  const far = new Map(item.view.fields.map(([name]) => {
    const means = groups.map((group) => mean(group.shown.map((thing) => thing.view.scales?.[name] ?? NaN)));
    const apart = Math.max(...means) - Math.min(...means);
    return [name, Number.isNaN(apart) ? 0.5 : apart];
  }));
  for (const thing of [item, ...groups.flatMap((group) => group.shown)]) thing.view.fields.sort((a, b) => far.get(b[0]) - far.get(a[0]));
}

// Rows as columns beside the names of their fields: in the order in which the item has them.
function values(shown) {
  const columns = shown.map((thing) => new Map(thing.view.fields));
  const lines = [...columns[0].keys()].flatMap((name) => [
    el("span", { class: "hint", dir: "auto" }, name),
    ...columns.map((column) => el("span", { dir: "auto" }, column.get(name) ?? ""))]);
  const box = el("span", { class: "values" }, ...lines);
  box.style.setProperty("--columns", columns.length);
  return box;
}
