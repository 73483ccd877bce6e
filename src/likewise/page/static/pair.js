// Two items side by side, in the way that makes them easiest to compare.

import { button, count, el, fill, plural, sign, WORDS } from "./dom.js";
import { hiddenFields, hideFields } from "./settings.js";
import { fetchPicture, tile } from "./things.js";

const SIDES = ["left", "right"];

/** How a layout shows two items: what is in the box, and the tools below. @typedef {(items: Item[], box: HTMLElement, again: () => void) => { parts: any, tools?: any }} Layout */

/** `fellows` are items that answers put together with each of the two.
 * @type {(box: HTMLElement, tools: HTMLElement, left: Item, right: Item, fellows?: Thing[][]) => void} */
export function showPair(box, tools, left, right, fellows = []) {
  const layout = layoutOf(left.view) === layoutOf(right.view) ? layoutOf(left.view) : "mixed";
  box.className = `pair ${layout}`;
  box.style.removeProperty("--zoom");
  const items = [left, right].map((item, k) => ({ ...item, fellows: fellows[k] ?? [] }));
  const shown = { images, texts, rows, series, mixed }[layout](items, box, () => showPair(box, tools, left, right, fellows));
  fill(box, shown.parts);
  fill(tools, shown.tools);
}

/** How two items are laid out follows from the parts of their views, not from their kind: a kind
 * that is not known here shows as well. @param {View} view */
export function layoutOf(view) {
  const parts = /** @type {const} */ (["picture", "channels", "text"]).filter((part) => view[part] !== undefined);
  if (!parts.length) return view.fields ? "rows" : "mixed";
  if (parts.length > 1 || (view.picture && view.fields?.length)) return "mixed";
  return /** @type {const} */ ({ picture: "images", channels: "series", text: "texts" })[parts[0]];
}

/** @type {(item: Item, show: (thing: Thing, k: number) => Node | string) => any} */
const withFellows = ({ fellows = [] }, show) => fellows.length > 0 && el("span", { class: "fellows" }, "with ", fellows.map(show));

/** @type {(item: Item, side: string, ...content: any[]) => any} */
export const figure = (item, side, ...content) => el("figure", { class: `side ${side}` }, content,
  // The number of a picture says nothing about it, nor does the name that a camera gave it.
  (!/^(Picture \d+|([A-Z]{1,4}_?)?\d+\.\w+)$/.test(item.heading) || item.n_copies || (item.fellows ?? []).length > 0) && el("figcaption", {}, el("span", { class: "title cut", dir: "auto" }, item.heading), item.n_copies ? ` ×${item.n_copies + 1}` : "", withFellows(item, (thing) => tile(thing, "eager"))));

/** @type {Layout} */
const mixed = (items) => ({ parts: items.map((item, k) => figure(item, SIDES[k], partsOf(item))) });

/** All parts of one item, one below the other. @type {(item: Item, show?: (item: Item) => Node) => any[]} */
export function partsOf(item, show = picture) {
  const { picture, channels = [], length = 0, text, fields, html } = item.view;
  if (item.kind === "missing") {
    return [el("p", { class: "gone" }, `“${item.id}” is no longer there. If you do not remember it, say that you are not sure.`)];
  }
  return [
    picture && show(item),
    channels.map((channel) => plot([[item, channel]], range(channel.y), Math.max(length, 2) - 1, channels.length > 1 ? channel.name : "")),
    text !== undefined && textBox(item.view, `text of ${item.heading}`, withMarks(item.view, text)),
    fields?.length && fieldList(fieldsOf(item)),
    // HTML of the user may run scripts, but cannot reach anything outside its frame.
    html !== undefined && el("iframe", { class: "html", sandbox: "allow-scripts", title: item.heading, srcdoc: html }),
  ];
}

// -- pictures ----------------------------------------------------------------------------------

/** @param {Item} item */
const picture = (item) => el("div", { class: "frame" }, Object.assign(fetchPicture(item.image ?? ""), { alt: item.title }));

/** @type {Layout} */
function images(items, box) {
  const parts = items.map((item, k) => figure(item, SIDES[k], picture(item)));
  let level = 1;
  const setZoom = (/** @type {number} */ next) => {
    level = next;
    box.classList.toggle("zoomed", level > 1);
    box.style.setProperty("--zoom", String(level));
    zoom.ariaPressed = String(level > 1);
  };
  /** Both show the same place, that under the pointer. @param {any} event */
  const pan = ({ currentTarget, clientX, clientY }) => {
    if (level === 1) return;
    const at = currentTarget.getBoundingClientRect();
    box.style.setProperty("--x", `${(((clientX - at.left) / at.width) * 100).toFixed(1)}%`);
    box.style.setProperty("--y", `${(((clientY - at.top) / at.height) * 100).toFixed(1)}%`);
  };
  for (const part of parts) {
    part.firstChild.addEventListener("pointermove", pan);
    part.firstChild.addEventListener("click", (/** @type {any} */ event) => {
      setZoom(level > 1 ? 1 : 3);
      pan(event);
    });
  }
  const zoom = button(["Zoom both ", el("kbd", {}, "+")], () => setZoom(level >= 6 ? 1 : level + 1), { class: "quiet", id: "zoom", ariaPressed: "false" });
  let turn = 0;
  const blink = button(["One at a time ", el("kbd", {}, "B")], () => {
    turn = (turn + 1) % 3;
    for (const k of [0, 1]) parts[k].hidden = turn === 2 - k;
    box.classList.toggle("single", turn > 0);
    blink.firstChild.textContent = ["One at a time ", "Left one: show the other ", "Right one: show both "][turn];
  }, { class: "quiet", id: "blink" });
  return { parts, tools: [zoom, blink] };
}

// -- texts -------------------------------------------------------------------------------------

const WORD = /([\p{L}\p{N}\p{M}'’]+)/gu;
const fold = (/** @type {string} */ word) => word.toLocaleLowerCase();
// In a short text all words are highlighted, in a long one those that few other texts have.
const MANY_WORDS = 12;

/** @type {Layout} */
function texts(items) {
  const words = items.map(({ view }) => new Set((view.text?.match(WORD) ?? []).map(fold)));
  const parts = items.map((item, k) => {
    const { view } = item;
    const [own, other] = [words[k], words[1 - k]];
    const tells = own.size > MANY_WORDS && view.telling?.length ? new Set(view.telling) : own;
    const content = marked(view.text ?? "", (word) => (other.has(word) ? "shared" : tells.has(word) ? "mark" : ""));
    return figure(item, SIDES[k], textBox(view, `${SIDES[k]} text`, content), view.fields?.length && fieldList(view.fields));
  });
  const n = [...words[0]].filter((word) => words[1].has(word)).length;
  return { parts, tools: el("p", { class: "hint" }, `${n === 1 ? "1 word is" : `${n} words are`} in both and pale; `, el("mark", {}, "marked"), " words are in only one and tell the most") };
}

// So few characters are shown in large letters.
const BRIEF = 140;

/** @type {(view: View, label: string, content: any) => Node} */
function textBox({ length = 0, text = "" }, label, content) {
  const isBrief = text.length <= BRIEF;
  return el("div", { class: isBrief ? "text brief" : "text", tabIndex: 0, role: "region", ariaLabel: label, dir: "auto" },
    isBrief ? el("span", {}, content) : content, length > text.length && el("p", { class: "hint" }, `… ${count(length - text.length)} more characters`));
}

/** A text with the words that tell its possible groups apart, if they are known. @type {(view: View, text: string) => any} */
function withMarks({ marked: words }, text) {
  const tells = new Set(words);
  return tells.size ? marked(text, (word) => (tells.has(word) ? "mark" : "")) : text;
}

/** Words of the same kind are one run with what is between them, so that a long text does not become thousands of elements.
 * @type {(text: string, kindOf: (word: string) => string) => (Node | string)[]} */
export function marked(text, kindOf) {
  const runs = [{ kind: "", words: "" }];
  // By the pattern in brackets, gaps and words alternate.
  text.split(WORD).forEach((piece, k, pieces) => {
    const run = runs[runs.length - 1];
    const kind = k % 2 ? kindOf(fold(piece)) : k + 1 < pieces.length && kindOf(fold(pieces[k + 1])) === run.kind ? run.kind : "";
    if (kind === run.kind) run.words += piece;
    else runs.push({ kind, words: piece });
  });
  return runs.map(({ kind, words }) => (kind === "mark" ? el("mark", {}, words) : kind ? el("span", { class: kind }, words) : words));
}

// -- rows --------------------------------------------------------------------------------------

/** A long name of a field is broken where its parts end. @param {string} name */
export const breakable = (name) => name.split(/(?<=[_./-])/).flatMap((part) => [part, el("wbr")]);

/** A table that scrolls in its box. @type {(label: string, head: Node[], body: Node[], props?: Props, corner?: Node) => Node} */
export const tableBox = (label, head, body, props = {}, corner = undefined) => el("div", { class: "table-box", tabIndex: 0, role: "region", ariaLabel: label },
  el("table", props, el("caption", { class: "unseen" }, label), el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Field", corner), head)), el("tbody", {}, body)));

/** Numbers as two dots on the range of all rows; anything else as a sign. @type {(isEqual: boolean, scales: (number | undefined)[]) => any[]} */
function relation(isEqual, scales) {
  const word = isEqual ? "same" : "different";
  const dots = scales.map((share, k) => el("i", { class: SIDES[k], style: { "inset-inline-start": `${(Number(share) * 100).toFixed(1)}%` } }));
  return [isEqual || scales.includes(undefined) ? sign(word) : el("span", { class: "scale", dir: "ltr", ariaHidden: "true" }, dots), el("span", { class: "unseen" }, WORDS[word])];
}

export const missing = () => el("i", {}, "missing");

/** The name of an item is above its fields, and not repeated among them. @param {Item} item */
const fieldsOf = (item) => (item.view.fields ?? []).filter(([, text]) => text !== item.heading);

/** Fields in the order of how much they differ: numbers by their scales, words in between, equal ones last. @param {Item[]} items */
function compared(items) {
  const texts = items.map((item) => new Map(fieldsOf(item)));
  const fields = [...new Set(texts.flatMap((text) => [...text.keys()]))].map((name) => {
    const values = texts.map((text) => text.get(name) ?? "");
    const scales = items.map((item) => item.view.scales?.[name]);
    const isEqual = values[0] === values[1];
    return { name, values, scales, isEqual, far: isEqual ? -1 : scales.includes(undefined) ? 0.5 : Math.abs(Number(scales[0]) - Number(scales[1])) };
  });
  return fields.sort((x, y) => y.far - x.far);
}

/** @type {Layout} */
function rows(items, _box, again) {
  const all = compared(items);
  const hidden = hiddenFields();
  const fields = all.filter(({ name }) => !hidden.has(name));
  const nEqual = fields.filter(({ isEqual }) => isEqual).length;
  const [left, right] = items.map((item) => el("th", { scope: "col" }, el("span", { dir: "auto" }, item.heading), withFellows(item, (thing, k) => `${k ? ", " : ""}${thing.title}`)));
  const body = fields.map(({ name, values, scales, isEqual }) => {
    const [a, b] = values.map((value) => el("td", { dir: "auto" }, value || missing()));
    return el("tr", { class: isEqual ? "equal" : "differs" }, el("th", { scope: "row", dir: "auto" }, breakable(name)), a, el("td", { class: "relation" }, relation(isEqual, scales)), b);
  });
  const hint = `${nEqual} of ${plural(fields.length, "field")} ${nEqual === 1 ? "is" : "are"} equal${all.some(({ scales }) => !scales.includes(undefined)) ? "; ○ left and ● right on the range of all rows" : ""}`;
  const between = el("th", { scope: "col", class: "relation" }, el("span", { class: "unseen" }, "equal or not"));
  return { parts: tableBox("The two, field by field", [left, between, right], body, { style: { "--rows": fields.length } }), tools: [el("p", { class: "hint" }, hint), fieldMenu(all, hidden, again)] };
}

/** @type {(fields: { name: string }[], hidden: Set<string>, again: () => void) => Node} */
export function fieldMenu(fields, hidden, again) {
  const toggle = (/** @type {string} */ name) => {
    if (!hidden.delete(name)) hidden.add(name);
    hideFields(hidden);
    again();
  };
  return el("details", { class: "menu" }, el("summary", { class: "quiet" }, hidden.size ? `Fields: ${hidden.size} hidden` : "Fields"),
    el("ul", {}, fields.map(({ name }) => el("li", {}, el("label", { dir: "auto" }, el("input", { type: "checkbox", checked: !hidden.has(name), on: { change: () => toggle(name) } }), ` ${name}`)))));
}

const fieldList = (/** @type {[string, string][]} */ fields) => el("dl", { class: "fields" }, fields.map(([name, text]) => [el("dt", { dir: "auto" }, name), el("dd", { dir: "auto" }, text || missing())]));

// -- series ------------------------------------------------------------------------------------

/** @type {Layout} */
function series(items, box) {
  const [left, right] = items;
  const channels = items.map(({ view }) => view.channels ?? []);
  const longest = Math.max(left.view.length ?? 0, right.view.length ?? 0, 2) - 1;
  /** One plot per channel, with the same axes for both items. @param {Item[]} shown */
  const plots = (shown) => channels[0].map((channel, c) => plot(shown.map((item) => [item, channels[items.indexOf(item)][c]]),
    range(channels.flatMap((own) => own[c]?.y ?? [])), longest, channels[0].length > 1 ? channel.name : ""));
  const parts = items.map((item, k) => figure(item, SIDES[k], plots([item])));
  const both = el("figure", { class: "side both", hidden: true }, plots(items),
    el("figcaption", {}, el("span", { class: "key-line" }, left.title), " over ", el("span", { class: "key-line second" }, right.title)));
  const overlay = button(["One over the other ", el("kbd", {}, "O")], () => {
    both.hidden = !both.hidden;
    box.classList.toggle("single", !both.hidden);
    for (const part of parts) part.hidden = !both.hidden;
    overlay.ariaPressed = String(!both.hidden);
  }, { class: "quiet", id: "overlay", ariaPressed: "false" });
  return { parts: [...parts, both], tools: [overlay, el("p", { class: "hint" }, "Both have the same axes")] };
}

/** @type {(values: number[]) => [number, number]} */
function range(values) {
  const [low, high] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  return high > low ? [low, high] : [low - 1, high + 1];
}

/** The curves stretch to the room there is; the words beside them do not.
 * @type {(lines: [Item, Channel][], limits: [number, number], longest: number, name: string) => Node} */
function plot(lines, [low, high], longest, name) {
  const title = lines.map(([item]) => item.title).join(" and ");
  // As exact as the range is wide: halfway between -1.2 and 1.19 is 0.
  const step = 10 ** (Math.floor(Math.log10(high - low)) - 1);
  const halfway = Math.round((low + high) / 2 / step) * step;
  const curves = lines.map(([, { t, y }], k) => {
    const points = t.map((at, i) => `${((at / longest) * 100).toFixed(2)},${(100 - ((y[i] - low) / (high - low)) * 100).toFixed(2)}`);
    return el("polyline", { class: k ? "second" : "", points: points.join(" ") });
  });
  return el("div", { class: "plot" },
    el("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img", "aria-label": `${name} ${title}, from ${short(low)} to ${short(high)}` },
      [0, 50, 100].map((y) => el("line", { class: "grid", x1: 0, x2: 100, y1: y, y2: y })), curves),
    [high, halfway, low].map((value, k) => el("span", { class: "y", style: { top: `${50 * k}%` } }, short(value))),
    el("span", { class: "x" }, "0"), el("span", { class: "x", style: { right: 0 } }, short(longest)), name && el("span", { class: "channel" }, name));
}

function short(/** @type {number} */ value) {
  return Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}
