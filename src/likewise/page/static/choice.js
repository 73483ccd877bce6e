// One item and all groups it may belong to: press the key of its group, click it, or find it by its name.

import { changeInTurn } from "./app.js";
import { button, byId, count, el, fill, first, keyMark, lookOf, plural } from "./dom.js";
import { openGroup } from "./group.js";
import { breakable, fieldMenu, figure, layoutOf, marked, missing, partsOf, tableBox } from "./pair.js";
import { hiddenFields } from "./settings.js";
import { roving } from "./grids.js";
import { fetchPicture, middleOf, tile } from "./things.js";

/** Groups stand in the order of their keys, so that neither place nor order tells the guess; those without one come last. @param {Option[]} groups */
export const inOrder = (groups) => groups.map((group, place) => ({ ...group, place })).sort((a, b) => (a.number ?? Infinity) - (b.number ?? Infinity) || a.place - b.place);

/** The likeliest, which are drawn large, and all others. @type {(question: Choice) => { large: Option[], others: Option[] }} */
function byRoom({ groups, n_large: n }) {
  const all = inOrder(groups);
  return { large: all.filter(({ place }) => place < n), others: all.filter(({ place }) => place >= n) };
}

/** @typedef {(place: number, isOneOfSeveral?: boolean) => unknown} Choose */

/** @type {(box: HTMLElement, tools: HTMLElement, question: Choice, choose: Choose) => void} */
export function showChoice(box, tools, question, choose) {
  const { item, fields } = question;
  const { large, others } = byRoom(question);
  box.className = `pair choice ${fields.length ? "rows" : layoutOf(item.view)}`;
  showOthers(others, choose);
  if (fields.length) return showFields(box, tools, question, choose);
  fill(tools);
  return fill(box, figure(item, "item", partsOf(item)),
    el("ol", { class: `options of-${large.length}` }, large.map((group) => el("li", { class: "option", "data-group": group.group }, ways(group, choose, faces(group))))));
}

// Texts that are so short are shown in larger letters.
const BRIEF = 90;

/** A typical member large and others beside it; texts one below the other. @param {Option} group */
function faces({ shown }) {
  const look = shown.some(({ image }) => image) ? " pictures" : shown.every(({ line = "" }) => line && line.length <= BRIEF) ? " brief" : "";
  return el("span", { class: `tiles faces-${shown.length}${look}` }, shown.map((thing, k) => (thing.line && !thing.image ? passage(thing) : face(thing, k === 0))));
}

/** Pictures of a question are kept decoded, so that they are painted at once. @type {(thing: Thing, isCover: boolean) => Node} */
function face(thing, isCover) {
  if (!thing.image) return tile(thing, "eager");
  const image = fetchPicture(isCover ? middleOf(thing.image) : `${thing.image}&size=small`);
  return Object.assign(image.isConnected ? /** @type {HTMLImageElement} */ (image.cloneNode()) : image, { className: "tile", alt: thing.title });
}

/** The end of a text that goes on is seen to. */
const endings = new ResizeObserver((texts) => {
  for (const { target } of texts) target.classList.toggle("goes-on", target.scrollHeight > target.clientHeight + 2);
});

/** Some lines of a text. @type {(look: string, words: any) => Node} */
function lines(look, words) {
  const text = el("span", { class: look, dir: "auto" }, words);
  endings.observe(text);
  return text;
}

/** A few words of a text; those that tell its group from others are marked. @param {Thing} thing */
const passage = ({ line = "", telling = [] }) => {
  const tells = new Set(telling);
  return lines("passage", marked(line, (word) => (tells.has(word) ? "mark" : "")));
};

/** Choose a group, name it, or see all of it. @type {(group: Option, choose: Choose, tiles?: Node) => Node[]} */
function ways(group, choose, tiles) {
  const { group: id } = group;
  const isMet = id !== null;
  const content = isMet || !tiles ? tiles : el("span", { class: "tiles unmet", dir: "auto" }, el("span", {}, group.name));
  const head = chooser(group, choose, [el("span", { class: "option-title" }, keyMark(group), el("span", { class: "unseen" }, tiles && isMet ? ` ${group.name}` : "")), content], "choose");
  // Known by its name only, so far.
  if (!isMet) return [head, !tiles && el("b", { class: "option-name cut", dir: "auto" }, group.name)];
  const all = button(count(group.size), () => openGroup(id), { class: "quiet all", title: "All members", ariaLabel: `All ${count(group.size)} members of group ${group.key.toUpperCase()}` });
  return [head, named(group), all];
}

const LONG_PRESS = 500;

/** A press chooses a group; with Shift, or a long one, it is one of several. @type {(group: Option, choose: Choose, content: any, look: string) => any} */
function chooser(group, choose, content, look) {
  let timer = 0;
  let wasLong = false;
  const release = () => clearTimeout(timer);
  return el("button", { type: "button", class: look, "data-place": group.place, on: {
    click: (/** @type {MouseEvent} */ { shiftKey }) => {
      if (!wasLong) choose(group.place, shiftKey);
      wasLong = false;
    },
    pointerdown: () => {
      wasLong = false;
      timer = window.setTimeout(() => {
        wasLong = true;
        choose(group.place, true);
      }, LONG_PRESS);
    },
    pointerup: release, pointercancel: release, pointerleave: release,
    contextmenu: (/** @type {any} */ event) => event.pointerType === "touch" && event.preventDefault(),
  } }, content);
}

/** The name of a group, typed while answering; what distinguishes the group is suggested. @type {(group: Option, saved?: () => void, left?: () => void) => any} */
function named(group, saved = () => {}, left = () => {}) {
  const save = async () => {
    const name = input.value.trim();
    if (name === group.name) return;
    const reply = await changeInTurn("name", { group: group.group, name });
    if (!reply) return;
    group.name = reply.group.name;
    saved();
    document.dispatchEvent(new CustomEvent("named", { detail: group }));
  };
  const keydown = (/** @type {KeyboardEvent} */ { key }) => {
    if (key === "Escape") input.value = group.name;
    else if (key !== "Enter") return;
    else if (!input.value) input.value = input.dataset.about ?? "";
    input.blur();
    if (key === "Enter") save();
  };
  const input = el("input", { type: "text", class: "option-name", maxLength: 200, value: group.name, placeholder: "name it", ariaLabel: `Name of group ${group.key.toUpperCase()}`, autocomplete: "off", dir: "auto", "data-group": group.group, style: { "--letters": group.key.length }, on: { change: save, keydown, blur: left } });
  return input;
}

// -- all other groups, small ------------------------------------------------------------------------

/** @type {Map<string, any>} */
let kept = new Map();
const MANY_OTHERS = 10;
let wantedGroup = "";
/** @type {Option[]} */
let small = [];
/** @type {Choose} */
let pick = () => {};

/** What is the same as in the last question keeps its elements. @type {(groups: Option[], choose: Choose) => void} */
function showOthers(groups, choose) {
  small = groups;
  pick = choose;
  byId("others-box").hidden = !groups.length;
  const field = byId("find-group");
  field.hidden = groups.length <= MANY_OTHERS;
  field.value = wantedGroup = "";
  byId("others").className = groups.length > MANY_OTHERS ? "others many" : "others";
  const before = kept;
  kept = new Map();
  for (const group of groups) {
    const state = JSON.stringify([group.group, group.place, group.name, group.size, group.shown[0]?.row]);
    kept.set(state, before.get(state) ?? smallOne(group));
  }
  fill(byId("others"), [...kept.values()]);
}

function smallOne(/** @type {Option} */ group) {
  const [thing] = group.shown;
  const about = el("span", { class: "cut option-about", dir: "auto", "data-group": group.group }, group.name);
  const cover = thing && (thing.image || thing.spark) ? tile(thing, "eager") : null;
  const words = thing && !cover && thing.line ? lines("small-words", thing.line) : null;
  const wordsNow = () => `${group.key} ${group.name}`.toLowerCase();
  const item = el("li", { class: cover || words ? "small" : "small in-words", "data-group": group.group, "data-words": wordsNow() },
    chooser(group, (place, isOneOfSeveral) => pick(place, isOneOfSeveral), [cover ?? words, el("span", { class: "small-title" }, keyMark(group), about)], "choose-small"));
  if (group.group === null) return item;
  const rename = () => {
    const show = () => {
      about.textContent = group.name;
      item.dataset.words = wordsNow();
    };
    const field = named(group, show, () => field.remove());
    field.dataset.about = about.dataset.about ?? "";
    item.append(field);
    field.focus();
  };
  item.append(button(el("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, el("path", { d: "M3 17l1-4L13.5 3.5l3 3L7 16z" })), rename, { class: "quiet rename", title: "Name it", ariaLabel: `Name group ${group.key.toUpperCase()}` }));
  return item;
}

/** Those whose key or name has the words that are typed; Enter takes the first. */
export function startFinding() {
  const field = byId("find-group");
  roving(byId("others"), ".choose-small");
  const seen = () => [...byId("others").children].filter((one) => !one.hidden);
  field.addEventListener("input", () => {
    wantedGroup = field.value.trim().toLowerCase();
    for (const one of byId("others").children) one.hidden = !`${one.dataset.words} ${one.textContent}`.toLowerCase().includes(wantedGroup);
  });
  field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      field.value = "";
      field.dispatchEvent(new Event("input"));
      field.blur();
    }
    const [one] = seen();
    if (event.key === "Enter" && wantedGroup && one) {
      field.blur();
      pick(small[[...byId("others").children].indexOf(one)].place);
    }
  });
}

// -- rows: one table, fields down, the item and the groups across ----------------------------------

const FOLDED = 8;
const MANY = 30;
let isUnfolded = false;
let wanted = "";

/** @type {(box: HTMLElement, tools: HTMLElement, question: Choice, choose: Choose) => void} */
function showFields(box, tools, question, choose) {
  const groups = byRoom(question).large;
  const again = () => showFields(box, tools, question, choose);
  const hidden = hiddenFields();
  const fields = question.fields.filter(({ name }) => !hidden.has(name) && name.toLowerCase().includes(wanted));
  const shown = isUnfolded || wanted || fields.length <= FOLDED + 2 ? fields : fields.slice(0, FOLDED);
  const head = [el("th", { scope: "col", class: "own", dir: "auto" }, question.item.heading), ...groups.map((group) => el("th", { scope: "col" }, el("div", { class: "option", "data-group": group.group }, ways(group, choose))))];
  const body = shown.map(({ name, value, at, groups: cells }) => el("tr", {}, el("th", { scope: "row", dir: "auto" }, breakable(name), el("b", { class: "below", dir: "auto" }, value ?? missing())), el("td", { class: "own", dir: "auto" }, value ?? missing()),
    groups.map((group) => el("td", { class: "other", dir: "auto", "data-place": group.place }, cell(cells[group.place], value, at, group)))));
  // Where there is little room, what the item has is below the names of the fields.
  const table = tableBox("The item and the groups, field by field", head, body, { style: { "--groups": groups.length, "--rows": shown.length } }, el("b", { class: "below", dir: "auto" }, question.item.heading));
  // A click anywhere in the column of a group chooses it.
  table.addEventListener("click", (/** @type {any} */ event) => {
    const place = event.target.closest("td.other")?.dataset.place;
    if (place !== undefined) choose(Number(place), event.shiftKey);
  });
  fill(box, table);
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
