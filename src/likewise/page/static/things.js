// One item in small: a picture, a spark line or a line of text; and how its group is known.

import { showPicture } from "./api.js";
import { app } from "./app.js";
import { count, el, keyMark } from "./dom.js";

export const smallOf = (/** @type {string | undefined} */ address) => `${address}&size=small`;
export const middleOf = (/** @type {string | undefined} */ address) => `${address}&size=middle`;
/** @type {(thing: Thing, props?: Props) => HTMLImageElement} */
export const smallPicture = (thing, props = {}) => pictureAt(smallOf(thing.image), thing, props);
/** @type {(address: string, thing: Thing, props?: Props) => HTMLImageElement} */
export const pictureAt = (address, thing, props = {}) => showPicture(el("img", { alt: thing.title, draggable: false, on: { load: edged }, ...props }), address);

/** @type {Map<string, HTMLImageElement>} */
const kept = new Map();
const MOST_KEPT = 240;

const MOST_ENLARGED = 3;
const LEAST = 120;

/** A small picture is not blown up, or else only so much that something is seen. @param {any} event */
function sized(event) {
  const image = event.target;
  const { naturalWidth: w, naturalHeight: h } = image;
  const most = Math.max(MOST_ENLARGED, LEAST / Math.max(w, h, 1));
  image.style.setProperty("--most-w", `${Math.round(w * most)}px`);
  image.style.setProperty("--most-h", `${Math.round(h * most)}px`);
  image.classList.toggle("pixels", most > MOST_ENLARGED);
  edged(event);
}

/** The color along the edges of a picture, by its address. @type {Map<string, string>} */
const edges = new Map();
const GRID = 32;
const PLAIN = 20;
/** @type {CanvasRenderingContext2D | null} */
let pen = null;

/** A picture whose edges have one color lies on that color, so that no square is seen around it. @param {any} event */
function edged({ target: image }) {
  if (!edges.has(image.src)) edges.set(image.src, edgeOf(image));
  const color = edges.get(image.src);
  if (color) image.style.setProperty("--edge", color);
}

/** @param {HTMLImageElement} image */
function edgeOf(image) {
  pen ??= el("canvas", { width: GRID, height: GRID }).getContext("2d", { willReadFrequently: true });
  if (!pen || !image.naturalWidth) return "";
  pen.imageSmoothingEnabled = false;
  pen.drawImage(image, 0, 0, GRID, GRID);
  const { data } = pen.getImageData(0, 0, GRID, GRID);
  const color = [0, 1, 2].map((channel) => {
    const values = [];
    for (let k = 0; k < GRID; k += 1) for (const at of [k, k * GRID, k * GRID + GRID - 1, (GRID - 1) * GRID + k]) values.push(data[4 * at + channel]);
    values.sort((a, b) => a - b);
    return values[values.length - 1] - values[0] > PLAIN ? NaN : values[values.length >> 1];
  });
  return color.some(Number.isNaN) ? "" : `rgb(${color.join(" ")})`;
}

/** Pictures are kept as decoded elements, so that the next question is painted without a wait. @param {string} address */
export function fetchPicture(address) {
  const image = kept.get(address) ?? showPicture(el("img", { draggable: false, on: { load: sized } }), address);
  if (!kept.delete(address)) image.decode().catch(() => {});
  kept.set(address, image);
  for (const [old, { isConnected }] of kept) {
    if (kept.size <= MOST_KEPT) break;
    if (!isConnected) kept.delete(old);
  }
  return image;
}

/** Tiles of a question are wanted at once, others when they are scrolled to. @type {(thing: Thing, loading?: "eager" | "lazy") => Node} */
export function tile(thing, loading = "lazy") {
  if (thing.image) return smallPicture(thing, { class: "tile", title: thing.title, loading });
  if (thing.spark) return el("span", { class: "tile spark", title: thing.title }, spark(thing.spark, thing.title));
  return el("span", { class: "tile words", title: thing.title, dir: "auto" }, thing.line || thing.title);
}

/** @type {(values: number[], title: string) => Node} */
function spark(values, title) {
  const points = values.map((y, k) => `${((k / Math.max(1, values.length - 1)) * 96 + 2).toFixed(1)},${(46 - y * 0.44).toFixed(1)}`);
  return el("svg", { viewBox: "0 0 100 48", role: "img", "aria-label": title, preserveAspectRatio: "none" }, el("polyline", { points: points.join(" ") }));
}

const percentOf = (/** @type {number} */ share) => `${Math.round(share * 100)}%`;

/** How the share right grew with the items that answers are about; the dot is what it is at least. @param {Completeness | null} complete */
export function curve(complete) {
  if (!complete?.is_said || complete.curve.length < 2) return null;
  const { curve: steps, at_least: bound } = complete;
  const [from, to] = [steps[0][0], steps[steps.length - 1][0]];
  const low = Math.max(0, Math.floor(10 * Math.min(bound, ...steps.map(([, share]) => share)) - 0.5) / 10);
  const x = (/** @type {number} */ n) => ((100 * (n - from)) / (to - from)).toFixed(1);
  const y = (/** @type {number} */ share) => ((100 * (1 - share)) / (1 - low)).toFixed(1);
  const words = `share right, by items said: ${steps.map(([, share]) => percentOf(share)).join(", ")}`;
  const mark = (/** @type {string} */ place, /** @type {string} */ text) => el("span", { class: `curve-${place}` }, text);
  return el("span", { class: "curve-box", title: words },
    el("svg", { class: "curve", viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img", "aria-label": words },
      [0, 50, 100].map((at) => el("line", { class: "grid", x1: 0, x2: 100, y1: at, y2: at })),
      el("polyline", { points: steps.map(([n, share]) => `${x(n)},${y(share)}`).join(" ") })),
    el("i", { class: "curve-dot", style: { top: `${y(bound)}%` } }),
    mark("top", "100% right"), mark("low", percentOf(low)), mark("from", String(from)), mark("to", `${to} said`));
}

export function groupName(/** @type {Group} */ { name, key, summary }) {
  const words = name || summary;
  if (!key) return words || "a group nobody was asked about";
  return words ? `${key.toUpperCase()}, ${words}` : `group ${key.toUpperCase()}`;
}

/** A group in a list: its key, one of its items where these are pictures or curves, its name. @param {Group | Option} group */
export function groupLine(group) {
  const [thing] = "typical" in group ? group.typical : group.shown;
  const words = group.name || ("summary" in group && group.summary);
  return el("span", { class: "group-line" }, keyMark(group), thing && (thing.image || thing.spark || !words) && tile(thing),
    el("span", { dir: "auto" }, words), el("span", { class: "hint" }, count(group.size)));
}

// -- how it is known to which group an item belongs ----------------------------------------------
// Said, learned with some certainty, or open: in words and by the shape of a mark, so that nobody
// needs a color.

// Nothing that was learned is quite sure.
const percent = (/** @type {number} */ share) => (share > 0.99 ? "over 99%" : `${Math.round(share * 100)}%`);

/** @typedef {Pick<Known, "how" | "certainty">} HowKnown */

/** What the group of an item is said by: a model or other people may have answered, too. */
export const saidSo = () => (app.state?.model || app.state?.you ? "an answer says so" : "you said so");

export function howWords(/** @type {HowKnown} */ { how, certainty }) {
  if (how === "said") return saidSo();
  if (how === "open") return "open: no answer decides it";
  return certainty === null ? "learned from similar items" : `learned, ${percent(certainty)} sure`;
}

/** A check for what was said; a pie as full as what was learned is sure; a dashed ring for open. @param {HowKnown} thing */
export function howMark({ how, certainty }) {
  const learned = certainty === null ? "M10 6.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0-7" : pie(certainty);
  const inside = { said: "M5.5 10.5l3 3 6-7", learned, open: "" }[how];
  return el("svg", { class: `how ${how}`, viewBox: "0 0 20 20", "aria-hidden": "true" }, el("circle", { cx: 10, cy: 10, r: 8.5 }), el("path", { d: inside }));
}

function pie(/** @type {number} */ share) {
  const turn = Math.min(share, 0.999) * 2 * Math.PI;
  const [x, y] = [10 + 6.5 * Math.sin(turn), 10 - 6.5 * Math.cos(turn)];
  return `M10 10V3.5A6.5 6.5 0 ${share > 0.5 ? 1 : 0} 1 ${x.toFixed(2)} ${y.toFixed(2)}Z`;
}

/** An item in small with its mark in the corner. @param {Known} thing */
export function knownTile(thing) {
  const n = thing.n_copies ?? 0;
  return el("span", { class: "known", title: `${thing.title}: ${howWords(thing)}` }, tile(thing), howMark(thing),
    n > 0 && el("span", { class: "copies", title: `${n} identical ${n === 1 ? "item" : "items"} besides` }, `×${n + 1}`), el("span", { class: "unseen" }, `, ${howWords(thing)}`));
}

/** How many items of a group are known in which way; what there is none of is left out. @type {(counts: Counts) => [How, number][]} */
function parts({ size, n_said: said, n_open: open }) {
  return /** @type {[How, number][]} */ ([["said", said], ["learned", size - said - open], ["open", open]]).filter(([, n]) => n > 0);
}

/** “12 said, 120 learned (about 9 wrong), 18 open” @param {Counts} group */
export function knownLine(group) {
  const wrong = group.n_wrong ? ` (about ${count(group.n_wrong)} wrong)` : "";
  return parts(group).map(([name, n]) => `${count(n)} ${name}${name === "learned" ? wrong : ""}`).join(", ");
}

/** The same as a bar, with a pattern for each part. @param {Counts} group */
export const knownBar = (group) => el("span", { class: "known-bar", ariaHidden: "true" }, parts(group).map(([name, n]) => el("span", { class: name, style: { "flex-grow": n } })));

export function howLegend() {
  /** @type {[How, string][]} */
  const ways = [["said", saidSo()], ["learned", "learned from the answers: the fuller the disc, the more certain"], ["open", "open: no answer decides where it belongs"]];
  return el("p", { class: "how-legend hint" }, ways.map(([how, words]) => el("span", {}, howMark({ how, certainty: 0.8 }), words)));
}
