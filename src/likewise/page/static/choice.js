// One item and the groups it may belong to: press the key of its group.

import { button, count, el, fill, first, keyMark, lookOf, plural } from "./dom.js";
import { openGroup } from "./group.js";
import { fieldMenu, figure, layoutOf, missing, partsOf, tableBox } from "./pair.js";
import { hiddenFields } from "./settings.js";
import { tile } from "./things.js";

/** Groups stand in the order of their keys, so that neither place nor order tells the guess. @param {Option[]} groups */
export const inOrder = (groups) => groups.map((group, place) => ({ ...group, place })).sort((a, b) => Number(a.number) - Number(b.number));

/** @typedef {(place: number) => unknown} Choose */

/** @type {(box: HTMLElement, tools: HTMLElement, question: Choice, choose: Choose) => void} */
export function showChoice(box, tools, question, choose) {
  const { item, fields } = question;
  box.className = `pair choice ${fields.length ? "rows" : layoutOf(item.view)}`;
  if (fields.length) return showFields(box, tools, question, choose);
  fill(tools);
  return fill(box, figure(item, "item", partsOf(item)), el("ol", { class: "options" }, inOrder(question.groups).map((group) => {
    const tiles = el("span", { class: "tiles" }, group.shown.map((thing) => tile(thing, "eager")));
    return el("li", { class: "option" }, ways(group, choose, tiles));
  })));
}

/** Choose a group or see all of it; what it is about is filled in when the groups are there. @type {(group: Option, choose: Choose, tiles?: Node) => Node[]} */
function ways(group, choose, tiles) {
  const about = tiles && el("span", { class: "option-about cut", dir: "auto", "data-group": group.group });
  const title = el("span", { class: "option-title" }, keyMark(group), el("b", { dir: "auto" }, group.name), about);
  const all = `All ${count(group.size)}`;
  return [button([title, tiles], () => choose(group.place), { class: "choose" }),
    button(all, () => openGroup(group.group), { class: "quiet all", ariaLabel: `${all} members of group ${group.key.toUpperCase()}` })];
}

// -- rows: one table, fields down, the item and the groups across ----------------------------------

const FOLDED = 8;
const MANY = 30;
let isUnfolded = false;
let wanted = "";

/** @type {(box: HTMLElement, tools: HTMLElement, question: Choice, choose: Choose) => void} */
function showFields(box, tools, question, choose) {
  const groups = inOrder(question.groups);
  const again = () => showFields(box, tools, question, choose);
  const hidden = hiddenFields();
  const fields = question.fields.filter(({ name }) => !hidden.has(name) && name.toLowerCase().includes(wanted));
  const shown = isUnfolded || wanted || fields.length <= FOLDED + 2 ? fields : fields.slice(0, FOLDED);
  const head = [el("th", { scope: "col", class: "own", dir: "auto" }, question.item.heading), ...groups.map((group) => el("th", { scope: "col" }, ways(group, choose)))];
  const body = shown.map(({ name, value, at, groups: cells }) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, name), el("td", { class: "own", dir: "auto" }, value ?? missing()),
    // A click anywhere in the column of a group chooses it.
    groups.map((group) => el("td", { class: "other", dir: "auto", on: { click: () => choose(group.place) } }, cell(cells[group.place], value, at, group)))));
  fill(box, tableBox("The item and the groups, field by field", head, body, { style: { "--groups": groups.length } }));
  const more = fields.length - shown.length;
  const fold = () => {
    isUnfolded = !isUnfolded;
    again();
  };
  fill(tools, question.fields.length > MANY && search(again), (more > 0 || isUnfolded) && button(more ? plural(more, "more field") : "Fewer fields", fold, { class: "quiet" }),
    fieldMenu(question.fields, hidden, again), groups.length > 2 && el("span", { class: "hint swipe" }, `${groups.length} groups: swipe`));
}

function search(/** @type {() => void} */ again) {
  const find = (/** @type {any} */ { target }) => {
    wanted = target.value.toLowerCase();
    again();
    first("#tools input[type=search]").focus();
  };
  return el("input", { type: "search", value: wanted, placeholder: "Find a field", ariaLabel: "Find a field", on: { input: find } });
}

/** @type {(entry: Cell, own: string | null, at: number | null, group: Keyed) => any[]} */
function cell({ shares, texts, text, n_missing: n, ...spread }, own, at, group) {
  if (text === null) return [missing()];
  const content = shares?.map(([value, share]) => el("span", { class: value === own ? "share own" : "share", style: { "--share": share } }, `${value} ${Math.round(share * 100)}%`))
    ?? texts?.join(" · ") ?? [strip(spread, at, group), text];
  return [content, n > 0 && [" ", el("span", { class: "lacking" }, `${n} missing`)]];
}

/** The spread of a group on the range of all items, its middle, and where the item lies. @type {(spread: Pick<Cell, "low" | "middle" | "high">, at: number | null, group: Keyed) => Node} */
function strip({ low, middle, high }, at, group) {
  /** @type {(name: string, from: number, to?: number) => Node} */
  const mark = (name, from, to = from) => el("i", { class: name, style: { "--from": from, "--to": to } });
  return el("span", { class: "strip-of", dir: "ltr", ariaHidden: "true", style: { "--key": lookOf(group.number).color } },
    mark("spread", low, high), mark("middle", middle), at !== null && mark("here", at));
}
