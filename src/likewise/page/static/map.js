// All items as points, alike ones near each other, marked by their group.

import { look } from "./app.js";
import { byId, el, plural } from "./dom.js";
import { doubt, openGroup } from "./group.js";
import { howMark, howWords, knownLine } from "./how.js";
import { partsOf } from "./pair.js";
import { smallPicture } from "./things.js";

// Color and shape together, so that nobody needs the color.
const COLORS = ["#0b7fab", "#d1495b", "#2f8f5b", "#c77d0a", "#7b5cc4", "#1f9e9e", "#b0488f", "#6b7f1e", "#8c5a3c", "#4a6fdc"];
const SHAPES = ["circle", "square", "triangle", "diamond", "cross"];
const MARGIN = 24;

let points = [];
let looks = new Map();
let only = null;

export async function showMap() {
  const view = byId("view-map");
  view.replaceChildren(el("h1", { id: "map-title" }, "Map"), el("p", { class: "hint" }, "Drawing …"));
  const found = await look("map");
  if (!found) return;
  points = found.points;
  only = null;
  looks = new Map(found.groups.map(({ id }, k) => [id, { color: COLORS[k % COLORS.length], shape: SHAPES[(k + Math.floor(k / COLORS.length)) % SHAPES.length], number: k + 1 }]));
  const canvas = el("canvas", { tabIndex: 0, role: "img", ariaLabel: `${plural(points.length, "item")} as points, marked by group. The groups are listed beside it.` });
  const panel = el("div", { class: "inspect", ariaLive: "polite" }, el("p", { class: "hint" }, "Click a point to see it."));
  view.replaceChildren(
    el("h1", { id: "map-title" }, "Map"),
    el("p", { class: "hint" }, points.length < found.n ? `A sample: ${points.length.toLocaleString("en")} of ${plural(found.n, "item")}, alike ones near each other. Directions have no meaning; counts are of all items.` : "Alike items are near each other. Directions have no meaning."),
    el("div", { class: "map-box" }, canvas, el("div", { class: "map-side" }, panel, legend(found, canvas))));
  draw(canvas);
  canvas.addEventListener("pointermove", (event) => hover(canvas, event));
  canvas.addEventListener("click", (event) => inspect(canvas, panel, event));
  new ResizeObserver(() => draw(canvas)).observe(canvas);
}

// A press on a group shows it alone; a second one shows all again.
function legend({ groups, n_groups: nGroups }, canvas) {
  const filter = (event, id) => {
    only = only === id ? null : id;
    for (const button of canvas.parentNode.querySelectorAll(".legend button[aria-pressed]")) button.setAttribute("aria-pressed", String(only !== null && button === event.currentTarget));
    draw(canvas);
  };
  const rest = nGroups - groups.length;
  return el("div", {},
    el("ul", { class: "legend" }, ...groups.map((group) =>
      el("li", {}, el("button", { type: "button", class: "quiet", "aria-pressed": "false", title: `${knownLine(group)}. Show it alone.`, on: { click: (event) => filter(event, group.id) } },
        sample(looks.get(group.id), 0), el("span", { dir: "auto" }, group.name || `Group ${looks.get(group.id).number}`), el("span", { class: "hint" }, ` ${group.size.toLocaleString("en")}`)),
        el("button", { type: "button", class: "quiet", ariaLabel: `Open ${group.name || `group ${looks.get(group.id).number}`}`, on: { click: () => openGroup(group.id) } }, "Open"))),
    rest > 0 ? el("li", { class: "hint" }, `and ${plural(rest, "smaller group")}, in gray`) : ""),
    el("ul", { class: "legend hint" }, ...["you said so", "learned", "open"].map((words, how) => el("li", {}, sample(undefined, how), ` ${words}`))));
}

function sample(style, how) {
  const shape = el("canvas", { width: 28, height: 28, ariaHidden: "true" });
  const pen = shape.getContext("2d");
  pen.scale(2, 2);
  mark(pen, 7, 7, 5, style, how);
  return shape;
}

function place(canvas, x, y) {
  const { clientWidth: w, clientHeight: h } = canvas;
  return [MARGIN + (x / 1000) * (w - 2 * MARGIN), h - MARGIN - (y / 1000) * (h - 2 * MARGIN)];
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

// Filled if it was said, hollow if it was learned, a dot if it is open.
function mark(pen, x, y, size, style, how) {
  const r = [size * 1.15, size, size * 0.5][how];
  pen.fillStyle = pen.strokeStyle = style?.color ?? "#7d838c";
  pen.lineWidth = Math.max(1, size * 0.35);
  pen.beginPath();
  const shape = style?.shape ?? "circle";
  if (shape === "circle") pen.arc(x, y, r, 0, 7);
  else if (shape === "square") pen.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
  else if (shape === "triangle") polygon(pen, [[x, y - r * 1.15], [x + r * 1.1, y + r * 0.85], [x - r * 1.1, y + r * 0.85]]);
  else if (shape === "diamond") polygon(pen, [[x, y - r * 1.3], [x + r, y], [x, y + r * 1.3], [x - r, y]]);
  else {
    const t = r * 0.38;
    polygon(pen, [[x - t, y - r], [x + t, y - r], [x + t, y - t], [x + r, y - t], [x + r, y + t], [x + t, y + t], [x + t, y + r], [x - t, y + r], [x - t, y + t], [x - r, y + t], [x - r, y - t], [x - t, y - t]]);
  }
  if (how === 1) pen.stroke();
  else pen.fill();
}

function polygon(pen, corners) {
  corners.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
}

function nearest(canvas, event) {
  const at = canvas.getBoundingClientRect();
  const [cx, cy] = [event.clientX - at.left, event.clientY - at.top];
  let best = null;
  let closest = 30 ** 2;
  for (const [row, x, y, group] of points) {
    if (only !== null && group !== only) continue;
    const [px, py] = place(canvas, x, y);
    const far = (px - cx) ** 2 + (py - cy) ** 2;
    if (far < closest) [closest, best] = [far, { row, group, px, py }];
  }
  return best;
}

// The point that a click would show gets a ring, and its group a word.
function hover(canvas, event) {
  const best = nearest(canvas, event);
  canvas.title = best ? `item ${best.row}, ${looks.has(best.group) ? `group ${looks.get(best.group).number}` : "a smaller group"}` : "";
  draw(canvas);
  if (!best) return;
  const pen = canvas.getContext("2d");
  pen.globalAlpha = 1;
  pen.lineWidth = 2;
  pen.strokeStyle = getComputedStyle(canvas).color;
  pen.beginPath();
  pen.arc(best.px, best.py, 10, 0, 7);
  pen.stroke();
}

async function inspect(canvas, panel, event) {
  const best = nearest(canvas, event)?.row ?? null;
  if (best === null) return;
  const found = await look(`item/${best}`);
  if (!found) return;
  const { item, group } = found;
  panel.replaceChildren(
    el("h2", { dir: "auto" }, item.title),
    el("p", { class: "hint" }, howMark(item), howWords(item)),
    ...partsOf(inSmall(item), () => smallPicture(item)),
    el("p", {},
      el("button", { type: "button", class: "plain", on: { click: () => openGroup(group.id) } }, `Its group: ${group.name || plural(group.size, "item")}`),
      el("button", { type: "button", class: "plain", on: { click: () => doubt(item) } }, "Does not fit there")));
}

function inSmall(item) {
  const { text } = item.view;
  return text === undefined ? item : { ...item, view: { ...item.view, text: text.slice(0, 600) } };
}
