// One item and the groups it may belong to: press the key of its group.

import { button, el, first, keyMark, plural } from "./dom.js";
import { openGroup } from "./group.js";
import { fieldMenu, figure, layoutOf, missing, partsOf } from "./pair.js";
import { hiddenFields } from "./settings.js";
import { tile } from "./things.js";

/** Groups stand in the order of their keys, so that neither place nor order tells the guess. @param {Option[]} groups */
export const inOrder = (groups) => groups.map((group, place) => ({ ...group, place })).sort((a, b) => Number(a.number) - Number(b.number));

/** @typedef {(place: number) => unknown} Choose */

/** @type {(box: HTMLElement, tools: HTMLElement, question: Choice, choose: Choose) => void} */
export function showChoice(box, tools, question, choose) {
  const groups = inOrder(question.groups);
  box.className = `pair choice ${question.fields.length ? "rows" : layoutOf(question.item.view)}`;
  tools.replaceChildren();
  if (question.fields.length) return showFields(box, tools, question, groups, choose);
  return box.replaceChildren(
    figure(question.item, "item", ...partsOf(question.item)),
    el("ol", { class: "options" }, ...groups.map((group) => option(group, choose))));
}

/** @type {(group: Option, choose: Choose) => Node} */
function option(group, choose) {
  return el("li", { class: "option" },
    button([title(group, about(group)), el("span", { class: "tiles" }, ...group.shown.map((thing) => tile(thing, { now: true })))], () => choose(group.place), { class: "choose" }),
    all(group));
}

/** @type {(group: Keyed, ...about: Node[]) => Node} */
const title = (group, ...about) => el("span", { class: "option-title" }, keyMark(group), el("b", { dir: "auto" }, group.name), ...about);
/** What it is about is filled in when the groups are there. @param {Option} group */
const about = (group) => el("span", { class: "option-about", dir: "auto", "data-group": group.group });

/** @param {Option} group */
const all = (group) => button(`All ${group.size.toLocaleString("en")}`, () => openGroup(group.group), { class: "quiet all", ariaLabel: `All ${group.size.toLocaleString("en")} members of group ${group.key.toUpperCase()}` });

// -- rows: one table, fields down, the item and the groups across ----------------------------------

const FOLDED = 8;
const MANY = 30;
let isUnfolded = false;
let wanted = "";

/** @type {(box: HTMLElement, tools: HTMLElement, question: Choice, groups: Option[], choose: Choose) => void} */
function showFields(box, tools, question, groups, choose) {
  const again = () => showFields(box, tools, question, groups, choose);
  const hidden = hiddenFields.names;
  const fields = question.fields.filter(({ name }) => !hidden.has(name) && name.toLowerCase().includes(wanted));
  const shown = isUnfolded || wanted || fields.length <= FOLDED + 2 ? fields : fields.slice(0, FOLDED);
  const head = el("tr", {}, el("th", { scope: "col" }, "Field"), el("th", { scope: "col", class: "own", dir: "auto" }, question.item.heading),
    ...groups.map((group) => el("th", { scope: "col" }, button(title(group), () => choose(group.place), { class: "choose" }), all(group))));
  const table = el("table", { style: { "--groups": groups.length } }, el("caption", { class: "unseen" }, "The item and the groups, field by field"),
    el("thead", {}, head), el("tbody", {}, ...shown.map((field) => fieldRow(field, groups))));
  // A click anywhere in the column of a group chooses it.
  table.addEventListener("click", (/** @type {any} */ { target }) => target.closest("td[data-place]") && choose(Number(target.closest("td").dataset.place)));
  const label = { tabIndex: 0, role: "region", ariaLabel: "The item and the groups, field by field" };
  box.replaceChildren(el("div", { class: "table-box", ...label }, table));
  const more = fields.length - shown.length;
  tools.replaceChildren(...(question.fields.length > MANY ? [search(again)] : []),
    ...(more || isUnfolded ? [button(more ? `${plural(more, "more field")}` : "Fewer fields", () => { isUnfolded = !isUnfolded; again(); }, { class: "quiet" })] : []),
    fieldMenu(question.fields, hidden, again), ...(groups.length > 2 ? [el("span", { class: "hint swipe" }, `${groups.length} groups: swipe`)] : []));
}

function search(/** @type {() => void} */ again) {
  const input = el("input", { type: "search", value: wanted, placeholder: "Find a field", ariaLabel: "Find a field", on: { input: () => {
    wanted = input.value.toLowerCase();
    again();
    first("#tools input[type=search]").focus();
  } } });
  return input;
}

/** @type {(field: Field, groups: Option[]) => Node} */
function fieldRow({ name, value, at, groups: entries }, groups) {
  return el("tr", {}, el("th", { scope: "row", dir: "auto" }, name), el("td", { class: "own", dir: "auto" }, value ?? missing()),
    ...groups.map((group) => el("td", { "data-place": group.place, dir: "auto" }, ...cell(entries[group.place], value, at, group))));
}

/** @type {(entry: Cell, own: string | null, at: number | null, group: Keyed) => any[]} */
function cell(entry, own, at, group) {
  const lacking = entry.n_missing ? [" ", el("span", { class: "lacking" }, `${entry.n_missing} missing`)] : [];
  if (entry.shares) return [...entry.shares.map(([value, share]) => el("span", { class: value === own ? "share own" : "share", style: { "--share": share } }, `${value} ${Math.round(share * 100)}\u00a0%`)), ...lacking];
  if (entry.texts) return [entry.texts.join(" · "), ...lacking];
  if (entry.text === null) return [missing()];
  return [strip(entry, at, group), entry.text, ...lacking];
}

/** The spread of a group on the range of all items, its middle, and where the item lies. @type {(entry: Cell, at: number | null, group: Keyed) => Node} */
function strip({ low, middle, high }, at, group) {
  /** @type {(name: string, from: number, to?: number) => Node} */
  const mark = (name, from, to = from) => el("i", { class: name, style: { "--from": from, "--to": to } });
  return el("span", { class: "strip-of", dir: "ltr", ariaHidden: "true", style: { "--key": keyMark(group).style.getPropertyValue("--key") } },
    mark("spread", low, high), mark("middle", middle), ...(at === null ? [] : [mark("here", at)]));
}
