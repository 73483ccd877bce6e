// All items as points, alike ones near each other, marked by their group.

import { look } from "./app.js";
import { byId, el, plural } from "./dom.js";
import { doubt, openGroup } from "./group.js";
import { howMark, howWords, knownLine } from "./how.js";
import { lookOf, mark, sample } from "./marks.js";
import { partsOf } from "./pair.js";
import { smallPicture } from "./things.js";

const MARGIN = 24;
const WORDS = {
  learned: "Laid out by what your answers taught: what tells the groups apart counts most. Directions have no meaning.",
  alike: "Alike items are near each other. Directions have no meaning.",
};

let points = [];
let looks = new Map();
let only = null;
// The part of the map that is seen: how large, and which place is in its middle.
let lens = { scale: 1, x: 500, y: 500 };
let current = null;

export async function showMap() {
  const view = byId("view-map");
  view.replaceChildren(el("h1", { id: "map-title" }, "Map"), el("p", { class: "hint" }, "Drawing …"));
  const found = await look("map");
  if (!found) return;
  points = found.points;
  only = current = null;
  lens = { scale: 1, x: 500, y: 500 };
  looks = new Map(found.groups.map(({ id }, k) => [id, lookOf(k)]));
  const canvas = el("canvas", { tabIndex: 0, role: "application", ariaLabel: `${plural(points.length, "item")} as points, marked by group. Arrows go from item to item, plus and minus zoom. The groups are listed beside it.` });
  const panel = el("div", { class: "inspect", ariaLive: "polite" }, el("p", { class: "hint" }, "Click a point to see it, or go from one to the next with the arrows. Scroll or +\u00a0and\u00a0− zooms, dragging moves the map."));
  const button = (words, label, press) => el("button", { type: "button", class: "plain", ariaLabel: label, on: { click: press } }, words);
  const buttons = el("p", { class: "zooms" }, button("+", "Zoom in", () => zoom(canvas, 1.5)), button("−", "Zoom out", () => zoom(canvas, 1 / 1.5)), button("Whole map", "Whole map", () => zoom(canvas, 0)));
  view.replaceChildren(
    el("h1", { id: "map-title" }, "Map"),
    el("p", { class: "hint" }, points.length < found.n ? `A sample: ${points.length.toLocaleString("en")} of ${plural(found.n, "item")}; counts are of all. ${WORDS[found.layout]}` : WORDS[found.layout]),
    el("div", { class: "map-box" }, el("div", { class: "map" }, canvas, buttons), el("div", { class: "map-side" }, panel, legend(found, canvas))));
  draw(canvas);
  steer(canvas, panel);
  new ResizeObserver(() => draw(canvas)).observe(canvas);
}

// A press on a group shows it alone; a second one shows all again.
function legend({ groups, n_groups: nGroups }, canvas) {
  const filter = (event, id) => {
    only = only === id ? null : id;
    for (const button of byId("view-map").querySelectorAll(".legend button[aria-pressed]")) button.setAttribute("aria-pressed", String(only !== null && button === event.currentTarget));
    draw(canvas);
  };
  const rest = nGroups - groups.length;
  return el("div", {},
    el("ul", { class: "legend" }, ...groups.map((group) =>
      el("li", {}, el("button", { type: "button", class: "quiet", "aria-pressed": "false", title: `${knownLine(group)}. Show it alone.`, on: { click: (event) => filter(event, group.id) } },
        sample(looks.get(group.id), 0), el("span", { dir: "auto" }, nameOf(group)), el("span", { class: "hint" }, ` ${group.size.toLocaleString("en")}`)),
        el("button", { type: "button", class: "quiet", ariaLabel: `Open ${nameOf(group)}`, on: { click: () => openGroup(group.id) } }, "Open"))),
    rest > 0 ? el("li", { class: "hint" }, `and ${plural(rest, "smaller group")}, in gray`) : ""),
    el("ul", { class: "legend hint" }, ...["you said so", "learned", "open"].map((words, how) => el("li", {}, sample(undefined, how), ` ${words}`))));
}

const nameOf = (group) => group.name || group.summary || `Group ${looks.get(group.id).number}`;

function place(canvas, x, y) {
  const { clientWidth: w, clientHeight: h } = canvas;
  const [a, b] = [0.5 + ((x - lens.x) / 1000) * lens.scale, 0.5 + ((y - lens.y) / 1000) * lens.scale];
  return [MARGIN + a * (w - 2 * MARGIN), h - MARGIN - b * (h - 2 * MARGIN)];
}

// Zoom by a factor, about a place on the screen that stays where it is; 0 shows the whole map.
function zoom(canvas, factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
  const scale = factor ? Math.min(40, Math.max(1, lens.scale * factor)) : 1;
  const [dx, dy] = [(px - canvas.clientWidth / 2) / (canvas.clientWidth - 2 * MARGIN), (canvas.clientHeight / 2 - py) / (canvas.clientHeight - 2 * MARGIN)];
  const by = 1000 * (1 / lens.scale - 1 / scale);
  move(canvas, scale, lens.x + dx * by, lens.y + dy * by);
}

// The middle stays where some of the map is still seen.
function move(canvas, scale, x, y) {
  const room = 500 / scale;
  const within = (value) => Math.min(1000 - room, Math.max(room, value));
  lens = { scale, x: within(x), y: within(y) };
  canvas.classList.toggle("zoomed", scale > 1);
  draw(canvas);
}

function draw(canvas) {
  const { clientWidth: w, clientHeight: h } = canvas;
  if (!w || !h) return;
  const ratio = devicePixelRatio || 1;
  canvas.width = w * ratio;
  canvas.height = h * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const size = points.length > 1500 ? 2.6 : points.length > 300 ? 4 : 5.5;
  pen.globalAlpha = 0.85;
  // What was said lies on top.
  for (const wanted of [2, 1, 0]) {
    for (const [, x, y, group, how] of points) if (how === wanted && (only === null || group === only)) mark(pen, ...place(canvas, x, y), size, looks.get(group), how);
  }
}

const isShown = ([, , , group]) => only === null || group === only;

function nearest(canvas, event) {
  const at = canvas.getBoundingClientRect();
  const [cx, cy] = [event.clientX - at.left, event.clientY - at.top];
  let best = null;
  let closest = 30 ** 2;
  for (const point of points.filter(isShown)) {
    const [px, py] = place(canvas, point[1], point[2]);
    const far = (px - cx) ** 2 + (py - cy) ** 2;
    if (far < closest) [closest, best] = [far, point];
  }
  return best;
}

// The nearest item in a direction, by keys; one that lies aside counts as farther.
function next(canvas, dx, dy) {
  const shown = points.filter(isShown);
  if (!current) return shown[0] ?? null;
  const [cx, cy] = place(canvas, current[1], current[2]);
  let best = null;
  let closest = Infinity;
  for (const point of shown) {
    const [px, py] = place(canvas, point[1], point[2]);
    const along = (px - cx) * dx + (py - cy) * dy;
    const aside = Math.abs((px - cx) * dy) + Math.abs((py - cy) * dx);
    const far = along + 2 * aside;
    if (point !== current && along > 0 && far < closest) [closest, best] = [far, point];
  }
  return best;
}

// The point that a click would show gets a ring, and its group a word.
function ring(canvas, point) {
  draw(canvas);
  canvas.title = point ? `item ${point[0]}, ${looks.has(point[3]) ? `group ${looks.get(point[3]).number}` : "a smaller group"}` : "";
  if (!point) return;
  const pen = canvas.getContext("2d");
  pen.globalAlpha = 1;
  pen.lineWidth = 2;
  pen.strokeStyle = getComputedStyle(canvas).color;
  pen.beginPath();
  pen.arc(...place(canvas, point[1], point[2]), 10, 0, 7);
  pen.stroke();
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const ZOOMS = { "+": 1.5, "=": 1.5, "-": 1 / 1.5, 0: 0 };

function steer(canvas, panel) {
  let held = null;
  let isDragged = false;
  canvas.addEventListener("pointerdown", (event) => {
    held = [event.clientX, event.clientY, lens.x, lens.y];
    isDragged = false;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!event.buttons || !held) return ring(canvas, nearest(canvas, event));
    const [dx, dy] = [event.clientX - held[0], event.clientY - held[1]];
    isDragged ||= Math.hypot(dx, dy) > 4;
    const unit = 1000 / lens.scale;
    return move(canvas, lens.scale, held[2] - (dx / canvas.clientWidth) * unit, held[3] + (dy / canvas.clientHeight) * unit);
  });
  canvas.addEventListener("click", (event) => !isDragged && inspect(canvas, panel, nearest(canvas, event)));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = canvas.getBoundingClientRect();
    zoom(canvas, 1.2 ** -Math.sign(event.deltaY), event.clientX - at.left, event.clientY - at.top);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in STEPS) inspect(canvas, panel, next(canvas, ...STEPS[event.key]));
    else if (event.key in ZOOMS) zoom(canvas, ZOOMS[event.key], ...(current ? place(canvas, current[1], current[2]) : []));
    else return;
    event.preventDefault();
  });
}

async function inspect(canvas, panel, point) {
  if (!point) return;
  current = point;
  ring(canvas, point);
  const found = await look(`item/${point[0]}`);
  if (!found || current !== point) return;
  const { item, group } = found;
  panel.replaceChildren(
    el("h2", { dir: "auto" }, item.title),
    el("p", { class: "hint" }, howMark(item), howWords(item)),
    ...partsOf(inSmall(item), () => smallPicture(item)),
    el("p", {},
      el("button", { type: "button", class: "plain", on: { click: () => openGroup(group.id) } }, `Its group: ${group.name || group.summary || plural(group.size, "item")}`),
      el("button", { type: "button", class: "plain", on: { click: () => doubt(item) } }, "Does not fit there")));
}

function inSmall(item) {
  const { text } = item.view;
  return text === undefined ? item : { ...item, view: { ...item.view, text: text.slice(0, 600) } };
}
