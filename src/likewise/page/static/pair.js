// Two items side by side, in the way that makes them easiest to compare.

import { button, el, plural, sign, svg, WORDS } from "./dom.js";
import { hiddenFields } from "./settings.js";
import { fetchPicture, tile } from "./things.js";

const SIDES = ["left", "right"];

/** `fellows` are items that answers put together with each of the two.
 * @type {(box: HTMLElement, tools: HTMLElement, left: Item, right: Item, fellows?: Thing[][]) => void} */
export function showPair(box, tools, left, right, fellows = [[], []]) {
  const layout = layoutOf(left.view) === layoutOf(right.view) ? layoutOf(left.view) : "mixed";
  /** @type {Record<string, (left: Item, right: Item, box: HTMLElement, tools: HTMLElement) => { parts: Node[], tools?: Node[] }>} */
  const ways = { images, texts, rows, series, mixed };
  box.className = `pair ${layout}`;
  box.style.removeProperty("--zoom");
  const shown = ways[layout]({ ...left, fellows: fellows[0] }, { ...right, fellows: fellows[1] }, box, tools);
  box.replaceChildren(...shown.parts);
  tools.replaceChildren(...(shown.tools ?? []));
}

/** How two items are laid out follows from the parts of their views, not from their kind: a kind
 * that is not known here shows as well. @param {View} view */
export function layoutOf(view) {
  const parts = /** @type {const} */ (["picture", "channels", "text"]).filter((part) => view[part] !== undefined);
  if (!parts.length) return view.fields ? "rows" : "mixed";
  if (parts.length > 1 || (view.picture && view.fields?.length)) return "mixed";
  return { picture: "images", channels: "series", text: "texts" }[parts[0]];
}

/** @type {(things: Thing[], show: (thing: Thing, k: number) => Node | string) => Node[]} */
function withFellows(things, show) {
  return things.length ? [el("span", { class: "fellows" }, "with ", ...things.map(show))] : [];
}

/** @type {(item: Item, side: string, ...content: any[]) => any} */
export function figure(item, side, ...content) {
  const fellows = withFellows(item.fellows ?? [], (thing) => tile(thing, { now: true }));
  return el("figure", { class: `side ${side}` }, ...content, el("figcaption", {}, el("span", { class: "title", dir: "auto" }, item.heading), item.n_copies ? ` ×${item.n_copies + 1}` : "", ...fellows));
}

/** @type {(left: Item, right: Item) => { parts: Node[] }} */
function mixed(left, right) {
  return { parts: [left, right].map((item, k) => figure(item, SIDES[k], ...partsOf(item))) };
}

/** All parts of one item, one below the other. @type {(item: Item, show?: (item: Item) => Node) => Node[]} */
export function partsOf(item, show = picture) {
  const { view } = item;
  if (item.kind === "missing") {
    return [el("p", { class: "gone" }, `“${item.id}” is not there any more. If you do not remember it, say that you are not sure.`)];
  }
  const curves = (view.channels ?? []).map((channel) =>
    plot([[item, channel]], range(channel.y), Math.max(view.length ?? 0, 2) - 1, (view.channels?.length ?? 0) > 1 ? channel.name : ""));
  return [
    view.picture ? show(item) : null,
    ...curves,
    view.text === undefined ? null : textBox(view, `text of ${item.heading}`, view.text),
    view.fields?.length ? fieldTable(fieldsOf(item)) : null,
    // HTML of the user may run scripts, but cannot reach anything outside its frame.
    view.html === undefined ? null : el("iframe", { class: "html", sandbox: "allow-scripts", title: item.heading, srcdoc: view.html }),
  ].filter((part) => part !== null);
}

// -- pictures ----------------------------------------------------------------------------------

function picture(/** @type {Item} */ item) {
  const image = fetchPicture(item.image ?? "");
  image.alt = item.title;
  return el("div", { class: "frame" }, image);
}

/** @type {(left: Item, right: Item, box: HTMLElement) => { parts: Node[], tools: Node[] }} */
function images(left, right, box) {
  const parts = [left, right].map((item, k) => figure(item, SIDES[k], picture(item)));
  let level = 1;
  const setZoom = (/** @type {number} */ next, /** @type {any} */ event = null) => {
    level = next;
    box.classList.toggle("zoomed", level > 1);
    box.style.setProperty("--zoom", String(level));
    zoom.setAttribute("aria-pressed", String(level > 1));
    if (event?.currentTarget?.classList?.contains("frame")) pan(event);
  };
  const pan = (/** @type {any} */ event) => {
    if (level === 1) return;
    const at = event.currentTarget.getBoundingClientRect();
    box.style.setProperty("--x", `${(((event.clientX - at.left) / at.width) * 100).toFixed(1)}%`);
    box.style.setProperty("--y", `${(((event.clientY - at.top) / at.height) * 100).toFixed(1)}%`);
  };
  for (const part of parts) {
    const frame = part.querySelector(".frame");
    frame.addEventListener("click", (/** @type {any} */ event) => setZoom(level > 1 ? 1 : 3, event));
    frame.addEventListener("pointermove", pan);
  }
  const zoom = button(["Zoom both ", el("kbd", {}, "+")], () => setZoom(level >= 6 ? 1 : level + 1), { class: "quiet", id: "zoom", "aria-pressed": "false" });
  let turn = 0;
  const blink = button(["One at a time ", el("kbd", {}, "B")], () => {
    turn = (turn + 1) % 3;
    box.classList.toggle("only-left", turn === 1);
    box.classList.toggle("only-right", turn === 2);
    blink.firstChild.textContent = ["One at a time ", "Left one: show the other ", "Right one: show both "][turn];
  }, { class: "quiet", id: "blink" });
  return { parts, tools: [zoom, blink] };
}

// -- texts -------------------------------------------------------------------------------------

const WORD = /[\p{L}\p{N}\p{M}'’]+/gu;
const fold = (/** @type {string} */ word) => word.toLocaleLowerCase();

/** In a long text only the words that few other texts have are highlighted. @type {(left: Item, right: Item) => { parts: Node[], tools: Node[] }} */
function texts(left, right) {
  const [a, b] = [left, right].map(({ view }) => new Set((view.text?.match(WORD) ?? []).map(fold)));
  const parts = [left, right].map((item, k) => {
    const words = marked(item.view.text ?? "", k ? kinds(item.view, b, a) : kinds(item.view, a, b));
    return figure(item, SIDES[k], textBox(item.view, `${SIDES[k]} text`, ...words), item.view.fields?.length ? fieldTable(item.view.fields) : null);
  });
  const n = [...a].filter((word) => b.has(word)).length;
  return { parts, tools: [el("p", { class: "hint" }, `${n === 1 ? "1 word is" : `${n} words are`} in both, shown pale · `, el("mark", {}, "marked"), " ones are in one only and tell most")] };
}

// In a short text all words are highlighted.
const MANY_WORDS = 12;

/** @type {(view: View, own: Set<string>, other: Set<string>) => (word: string) => string} */
function kinds(view, own, other) {
  const tells = own.size > MANY_WORDS && view.telling?.length ? new Set(view.telling) : own;
  return (word) => (other.has(word) ? "shared" : tells.has(word) ? "mark" : "plain");
}

/** @type {(view: View, label: string, ...content: (string | Node)[]) => Node} */
function textBox(view, label, ...content) {
  const more = (view.length ?? 0) - (view.text ?? "").length;
  return el("div", { class: "text", tabIndex: 0, role: "region", ariaLabel: label, dir: "auto" },
    ...content, more > 0 ? el("p", { class: "hint" }, `… ${more.toLocaleString("en")} more characters`) : null);
}

/** Runs of shared and of other words, so that a long text does not become thousands of elements. @type {(text: string, kindOf: (word: string) => string) => (string | Node)[]} */
function marked(text, kindOf) {
  /** @type {(string | Node)[]} */
  const parts = [];
  let start = 0;
  let end = 0;
  let kind = "plain";
  const close = () => {
    const run = text.slice(start, end);
    parts.push(kind === "plain" ? run : kind === "mark" ? el("mark", {}, run) : el("span", { class: kind }, run));
  };
  for (const found of text.matchAll(WORD)) {
    const next = kindOf(fold(found[0]));
    if (next !== kind) {
      close();
      parts.push(text.slice(end, found.index));
      start = found.index;
      kind = next;
    }
    end = found.index + found[0].length;
  }
  close();
  parts.push(text.slice(end));
  return parts;
}

// -- rows --------------------------------------------------------------------------------------

/** Numbers as two dots on the range of all rows; anything else as a sign. @type {(word: Word, scales: (number | undefined)[]) => Node[]} */
function relation(word, scales) {
  const words = el("span", { class: "unseen" }, WORDS[word]);
  if (word === "same" || scales.includes(undefined)) return [sign(word), words];
  const dots = scales.map((share, k) => el("i", { class: SIDES[k], style: { "inset-inline-start": `${(Number(share) * 100).toFixed(1)}%` } }));
  return [el("span", { class: "scale", dir: "ltr", ariaHidden: "true" }, ...dots), words];
}

export const missing = () => el("i", {}, "missing");

/** The name of an item is above its fields, and not repeated among them. @param {Item} item */
const fieldsOf = (item) => (item.view.fields ?? []).filter(([, text]) => text !== item.heading);

/** Fields in the order of how much they differ: numbers by their scales, words in between, equal ones last. @type {(left: Item, right: Item) => { name: string, values: string[], scales: (number | undefined)[], isEqual: boolean, far: number }[]} */
function compared(left, right) {
  const [a, b] = [left, right].map((item) => new Map(fieldsOf(item)));
  const fields = [...new Set([...a.keys(), ...b.keys()])].map((name) => {
    const values = [a.get(name) ?? "", b.get(name) ?? ""];
    const scales = [left, right].map((item) => item.view.scales?.[name]);
    const isEqual = values[0] === values[1];
    return { name, values, scales, isEqual, far: isEqual ? -1 : scales.includes(undefined) ? 0.5 : Math.abs(Number(scales[0]) - Number(scales[1])) };
  });
  return fields.sort((x, y) => y.far - x.far);
}

/** @type {(left: Item, right: Item, box: HTMLElement, tools: HTMLElement) => { parts: Node[], tools: Node[] }} */
function rows(left, right, box, tools) {
  const all = compared(left, right);
  const hidden = hiddenFields.names;
  const fields = all.filter(({ name }) => !hidden.has(name));
  const nEqual = fields.filter(({ isEqual }) => isEqual).length;
  const body = fields.map(({ name, values, scales, isEqual }) =>
    el("tr", { class: isEqual ? "equal" : "differs" },
      el("th", { scope: "row", dir: "auto" }, name),
      el("td", { dir: "auto" }, values[0] || missing()),
      el("td", { class: "relation" }, ...relation(isEqual ? "same" : "different", scales)),
      el("td", { dir: "auto" }, values[1] || missing())));
  const table = el("table", {},
    el("caption", { class: "unseen" }, "The two, field by field"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Field"), columnHead(left), el("th", { scope: "col", class: "relation" }, el("span", { class: "unseen" }, "equal or not")), columnHead(right))),
    el("tbody", {}, ...body));
  const hint = el("p", { class: "hint" }, `${nEqual} of ${plural(fields.length, "field")} ${nEqual === 1 ? "is" : "are"} equal${all.some(({ scales }) => !scales.includes(undefined)) ? "; ○ left and ● right on the range of all rows" : ""}`);
  const again = () => showPair(box, tools, left, right, [left.fellows ?? [], right.fellows ?? []]);
  return { parts: [el("div", { class: "table-box", tabIndex: 0, role: "region", ariaLabel: "The two, field by field" }, table)], tools: [hint, fieldMenu(all, hidden, again)] };
}

function columnHead(/** @type {Item} */ item) {
  const names = withFellows(item.fellows ?? [], (thing, k) => `${k ? ", " : ""}${thing.title}`);
  return el("th", { scope: "col" }, el("span", { dir: "auto" }, item.heading), ...names);
}

/** @type {(fields: { name: string }[], hidden: Set<string>, changed: () => void) => Node} */
export function fieldMenu(fields, hidden, changed) {
  return el("details", { class: "menu" }, el("summary", { class: "quiet" }, hidden.size ? `Fields: ${hidden.size} hidden` : "Fields"),
    el("ul", {}, ...fields.map(({ name }) => el("li", {}, el("label", { dir: "auto" },
      el("input", { type: "checkbox", checked: !hidden.has(name), on: { change: () => { hiddenFields.toggle(name); changed(); } } }), ` ${name}`)))));
}

function fieldTable(/** @type {[string, string][]} */ fields) {
  return el("dl", { class: "fields" }, ...fields.flatMap(([name, text]) => [el("dt", { dir: "auto" }, name), el("dd", { dir: "auto" }, text || missing())]));
}

// -- series ------------------------------------------------------------------------------------

/** @type {(left: Item, right: Item, box: HTMLElement) => { parts: Node[], tools: Node[] }} */
function series(left, right, box) {
  const [first, second] = [left, right].map(({ view }) => view.channels ?? []);
  const limits = first.map((channel, k) => range([...channel.y, ...(second[k]?.y ?? [])]));
  const longest = Math.max(left.view.length ?? 0, right.view.length ?? 0, 2) - 1;
  const name = (/** @type {Channel} */ channel) => (first.length > 1 ? channel.name : "");
  const parts = [left, right].map((item, k) =>
    figure(item, SIDES[k], ...[first, second][k].map((channel, c) => plot([[item, channel]], limits[c], longest, name(channel)))));
  const both = el("figure", { class: "side both", hidden: true },
    ...first.map((channel, c) => plot([[left, channel], [right, second[c]]], limits[c], longest, name(channel))),
    el("figcaption", {}, el("span", { class: "key-line first" }, left.title), " over ", el("span", { class: "key-line second" }, right.title)));
  const overlay = button(["One over the other ", el("kbd", {}, "O")], () => {
    const isOver = box.classList.toggle("overlaid");
    both.hidden = !isOver;
    for (const part of parts) part.hidden = isOver;
    overlay.setAttribute("aria-pressed", String(isOver));
  }, { class: "quiet", id: "overlay", "aria-pressed": "false" });
  return { parts: [...parts, both], tools: [overlay, el("p", { class: "hint" }, "Both have the same axes")] };
}

/** @type {(values: number[]) => [number, number]} */
function range(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high > low ? [low, high] : [low - 1, high + 1];
}

/** The curves stretch to the room there is; the words beside them do not.
 * @type {(lines: [Item, Channel][], limits: [number, number], longest: number, name: string) => Node} */
function plot(lines, [low, high], longest, name) {
  const title = lines.map(([item]) => item.title).join(" and ");
  const curves = svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img", "aria-label": `${name} ${title}, from ${short(low)} to ${short(high)}` });
  for (const y of [0, 50, 100]) curves.append(svg("line", { class: "grid", x1: 0, x2: 100, y1: y, y2: y }));
  lines.forEach(([, channel], k) => {
    const points = channel.t.map((t, i) => `${((t / longest) * 100).toFixed(2)},${(100 - ((channel.y[i] - low) / (high - low)) * 100).toFixed(2)}`).join(" ");
    curves.append(svg("polyline", { class: k ? "second" : "first", points }));
  });
  const values = [high, (low + high) / 2, low].map((value, k) => el("span", { class: `y at-${k}` }, short(value)));
  return el("div", { class: "plot" }, curves, ...values, el("span", { class: "x first" }, "0"), el("span", { class: "x last" }, short(longest)), name ? el("span", { class: "channel" }, name) : "");
}

function short(/** @type {number} */ value) {
  return Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}
