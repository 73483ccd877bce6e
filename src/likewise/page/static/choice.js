// One item and the groups it may belong to: press the number of its group.

import { button, el } from "./dom.js";
import { openGroup } from "./group.js";
import { fieldsOf, figure, partsOf } from "./pair.js";
import { tile } from "./things.js";

export function showChoice(box, tools, question, choose) {
  box.className = "pair choice";
  if (question.groups.every(hasFields)) sortFields(question);
  box.replaceChildren(
    figure(question.item, "", ...partsOf(question.item)),
    el("ol", { class: "options" }, ...question.groups.map((group, place) => option(group, place, choose))));
  tools.replaceChildren();
}

function option(group, place, choose) {
  const name = group.name || `Group ${place + 1}`;
  return el("li", { class: "option" },
    button([
      el("span", { class: "option-title" }, el("kbd", {}, `${place + 1}`), group.name ? el("b", { dir: "auto" }, name) : el("span", { class: "unseen" }, name), el("span", { class: "option-about", dir: "auto", "data-group": group.group })),
      hasFields(group) ? values(group.shown) : el("span", { class: "tiles" }, ...group.shown.map((thing) => tile(thing, { now: true }))),
    ], () => choose(place), { class: "choose" }),
    button(`All ${group.size.toLocaleString("en")}`, () => openGroup(group.group), { class: "quiet all", ariaLabel: `All ${group.size} members of ${name}` }));
}

const hasFields = (group) => group.shown.every((thing) => thing.view?.fields?.length);

// Fields in which the groups are furthest apart come first, since not all have room: numbers by
// their means, words by how much a group agrees in them and differs from the others.
function sortFields({ item, groups }) {
  const far = new Map(fieldsOf(item).map(([name], k) => {
    const scales = groups.map((group) => group.shown.map((thing) => thing.view.scales?.[name] ?? NaN));
    const means = scales.map((some) => some.reduce((a, b) => a + b, 0) / some.length);
    const apart = Math.max(...means) - Math.min(...means);
    return [name, (Number.isNaN(apart) ? wordsApart(name, groups) : apart) - k * 1e-6];
  }));
  const order = (a, b) => (far.get(b[0]) ?? -1) - (far.get(a[0]) ?? -1);
  for (const thing of [item, ...groups.flatMap((group) => group.shown)]) thing.view.fields.sort(order);
}

function wordsApart(name, groups) {
  const usual = groups.map((group) => {
    const counts = new Map();
    for (const thing of group.shown) {
      const word = new Map(thing.view.fields).get(name);
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const [word, n] = [...counts].sort((a, b) => b[1] - a[1])[0];
    return { word, share: n / group.shown.length };
  });
  const differs = (new Set(usual.map(({ word }) => word)).size - 1) / Math.max(1, groups.length - 1);
  return (differs * usual.reduce((sum, { share }) => sum + share, 0)) / groups.length;
}

// Rows as columns beside the names of their fields: in the order in which the item has them.
function values(shown) {
  const columns = shown.map((thing) => new Map(thing.view.fields));
  const lines = fieldsOf(shown[0]).flatMap(([name]) => [
    el("span", { class: "hint", dir: "auto" }, name),
    ...columns.map((column) => el("span", { dir: "auto", title: column.get(name) }, column.get(name) ?? ""))]);
  return el("span", { class: columns.length === 3 ? "values three" : "values", style: { "--columns": columns.length } }, ...lines);
}
