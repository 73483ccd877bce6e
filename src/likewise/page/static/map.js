// All items as points, alike ones near each other, marked by their group.

import { get } from "./api.js";
import { look } from "./app.js";
import { button, byId, count, el, every, fill, lookOf, plural } from "./dom.js";
import { doubt, openFind, openGroup } from "./group.js";
import { enlarge } from "./mend.js";
import { partsOf } from "./pair.js";
import { hidePreview, showPreview, soon } from "./preview.js";
import { groupLine, groupName, howMark, howWords, knownLine, saidSo, middleOf, pictureAt } from "./things.js";

const MARGIN = 24;
/** The height of a name. */
const LINE = 15;
/** How far a preview stays from its point. */
const REACH = 14;
const WORDS = {
  learned: "Arranged by what your answers taught: what tells the groups apart counts most. Directions have no meaning.",
  alike: "Similar items are near each other. Directions have no meaning.",
};

/** @typedef {[x: number, y: number]} Place */

/** @type {HTMLCanvasElement} */
let canvas;
/** @type {CanvasRenderingContext2D} */
let pen;
/** @type {HTMLElement} */
let panel;
/** @type {Point[]} */
let points = [];
/** @type {Map<number, Look & { group: Group, at: Place }>} */
let looks = new Map();
/** The group that is shown alone. @type {number | null} */
let only = null;
// The part of the map that is seen: how large, and which place is in its middle.
const WHOLE = { scale: 1, x: 500, y: 500 };
let lens = WHOLE;
/** @type {Point | null} */
let current = null;
/** The rows that were ringed or marked by Space. @type {Set<number>} */
let chosen = new Set();
/** What is being ringed. @type {Path2D | null} */
let lasso = null;
let hasLasso = false;

export async function showMap() {
  const view = byId("view-map");
  fill(view, el("h1", { id: "map-title" }, "Map"), el("p", { class: "hint" }, "Drawing …"));
  const reply = await look("map");
  if (!reply) return;
  points = reply.points;
  only = current = lasso = null;
  chosen = new Set();
  lens = WHOLE;
  looks = new Map(reply.groups.map((group) => [group.id, { ...lookOf(group.number), group, at: above(group.id) }]));
  canvas = el("canvas", { tabIndex: 0, role: "application", ariaLabel: `${plural(points.length, "item")} as points, marked by group. Arrows go from item to item, space selects one, plus and minus zoom. The groups are listed beside it.` });
  pen = penOf(canvas);
  panel = el("div", { class: "inspect", ariaLive: "polite" }, el("p", { class: "hint" }, "Click a point to see it, or go from one to the next with the arrows. Scroll or +\u00a0and\u00a0− to zoom, drag to move the map. With Shift, or after “Lasso”, drag around items to select them."));
  const ring = button("Lasso", () => {
    hasLasso = !hasLasso;
    ring.ariaPressed = String(hasLasso);
  }, { ariaPressed: String(hasLasso) });
  const open = button("", () => openFind([...chosen].slice(0, 500)), { id: "chosen", class: "primary", hidden: true });
  const zooms = [button("+", () => zoom(1.5), { ariaLabel: "Zoom in" }), button("−", () => zoom(1 / 1.5), { ariaLabel: "Zoom out" }), button("Whole map", () => zoom(0))];
  fill(view,
    el("h1", { id: "map-title" }, "Map"),
    el("p", { class: "hint" }, points.length < reply.n && `A sample: ${count(points.length)} of ${plural(reply.n, "item")}; counts are of all. `, WORDS[reply.layout]),
    el("div", { class: "map-box" }, el("div", { class: "map" }, canvas, el("p", { class: "line" }, zooms, ring, open)), el("div", { class: "map-side" }, panel, legend(reply))));
  draw();
  steer();
  new ResizeObserver(draw).observe(canvas);
}

/** Where the name of a group stands: above most of its points, in their middle. @type {(id: number) => Place} */
function above(id) {
  const inside = points.filter(([, , , group]) => group === id);
  const at = (/** @type {1 | 2} */ k, /** @type {number} */ share) => inside.map((point) => point[k]).sort((a, b) => a - b)[Math.floor(inside.length * share)];
  return [at(1, 0.5), at(2, 0.95)];
}

function choose(/** @type {Iterable<number>} */ rows) {
  chosen = new Set(rows);
  byId("chosen").hidden = !chosen.size;
  byId("chosen").textContent = `Open ${plural(chosen.size, "item")}`;
}

/** A press on a group shows it alone; a second one shows all again. @param {MapReply} reply */
function legend({ groups, n_groups: nGroups }) {
  const rest = nGroups - groups.length;
  return el("div", {}, el("ul", { class: "legend" }, groups.map((group) => {
    const alone = button([sample(looks.get(group.id), 0), groupLine(group)], () => {
      only = only === group.id ? null : group.id;
      for (const one of every(".legend [aria-pressed]")) one.ariaPressed = String(only !== null && one === alone);
      draw();
    }, { class: "quiet", ariaPressed: "false", title: `${knownLine(group)}. Show it alone.` });
    return el("li", {}, alone, button("Open", () => openGroup(group.id), { class: "quiet", ariaLabel: `Open ${groupName(group)}` }));
  }), rest > 0 && el("li", { class: "hint" }, `and ${plural(rest, "smaller group")}, in gray`)),
    el("p", { class: "legend hint line" }, [saidSo(), "learned", "open"].map((words, how) => [sample(undefined, how), words])));
}

/** Where a point is on the screen. @type {(x: number, y: number) => Place} */
function place(x, y) {
  const { clientWidth: w, clientHeight: h } = canvas;
  const [a, b] = [0.5 + ((x - lens.x) / 1000) * lens.scale, 0.5 + ((y - lens.y) / 1000) * lens.scale];
  return [MARGIN + a * (w - 2 * MARGIN), h - MARGIN - b * (h - 2 * MARGIN)];
}

/** Zoom by a factor, about a place on the screen that stays where it is; 0 shows the whole map. @type {(factor: number, px?: number, py?: number) => void} */
function zoom(factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
  const scale = factor ? Math.min(40, Math.max(1, lens.scale * factor)) : 1;
  const [dx, dy] = [(px - canvas.clientWidth / 2) / (canvas.clientWidth - 2 * MARGIN), (canvas.clientHeight / 2 - py) / (canvas.clientHeight - 2 * MARGIN)];
  const by = 1000 * (1 / lens.scale - 1 / scale);
  move(scale, lens.x + dx * by, lens.y + dy * by);
}

/** The middle stays where some of the map is still seen. @type {(scale: number, x: number, y: number) => void} */
function move(scale, x, y) {
  const room = 500 / scale;
  const within = (/** @type {number} */ value) => Math.min(1000 - room, Math.max(room, value));
  lens = { scale, x: within(x), y: within(y) };
  canvas.classList.toggle("zoomed", scale > 1);
  draw();
}

function draw() {
  const { clientWidth: w, clientHeight: h } = canvas;
  if (!w || !h) return;
  const ratio = devicePixelRatio || 1;
  canvas.width = w * ratio;
  canvas.height = h * ratio;
  pen.scale(ratio, ratio);
  const size = points.length > 1500 ? 2.6 : points.length > 300 ? 4 : 5.5;
  pen.globalAlpha = 0.85;
  // What was said lies on top.
  for (const wanted of [2, 1, 0]) {
    for (const [row, x, y, group, how] of points.filter(isShown)) if (how === wanted) mark(pen, ...place(x, y), chosen.has(row) ? size * 1.8 : size, looks.get(group), how);
  }
  const { color, backgroundColor } = getComputedStyle(canvas);
  Object.assign(pen, { globalAlpha: 1, strokeStyle: color, lineWidth: 1.5 });
  if (lasso) pen.stroke(lasso);
  // The key and the name of each group stand above it, within the map, and beside each other.
  /** @type {number[][]} */
  const taken = [];
  Object.assign(pen, { font: "600 13px system-ui, sans-serif", textAlign: "center", lineWidth: 4, strokeStyle: backgroundColor, fillStyle: color });
  for (const { group, at: [x, y] } of looks.values()) {
    if (!group.key || x === undefined || (only !== null && group.id !== only)) continue;
    const words = [group.key.toUpperCase(), group.name.slice(0, 24)].filter(Boolean).join(" · ");
    const [px, py] = place(x, y);
    const half = pen.measureText(words).width / 2 + 6;
    const left = Math.max(0, Math.min(w - 2 * half, px - half));
    let line = Math.max(16, py - 12);
    while (taken.some(([from, to, at]) => left < to && from < left + 2 * half && Math.abs(line - at) < LINE)) line += 1;
    taken.push([left, left + 2 * half, line]);
    pen.strokeText(words, left + half, line);
    pen.fillText(words, left + half, line);
  }
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => canvas?.isConnected && draw());

/** @type {(canvas: HTMLCanvasElement) => CanvasRenderingContext2D} */
const penOf = (canvas) => /** @type {any} */ (canvas.getContext("2d"));

const isShown = (/** @type {Point} */ [, , , group]) => only === null || group === only;

/** Where a pointer is on the canvas. @type {(event: MouseEvent) => Place} */
const here = ({ offsetX, offsetY }) => [offsetX, offsetY];

const nearest = (/** @type {MouseEvent} */ event) => closest(here(event), 30, Math.hypot);

/** The nearest item in a direction, by keys; one that lies aside counts as farther. @param {Place} direction */
function next([dx, dy]) {
  if (!current) return points.find(isShown) ?? null;
  return closest(place(current[1], current[2]), Infinity, (x, y) => {
    const along = x * dx + y * dy;
    return along > 0 ? along + 2 * (Math.abs(x * dy) + Math.abs(y * dx)) : Infinity;
  });
}

/** The item with the least distance to a place on the screen, if that is below a limit.
 * @type {(at: Place, limit: number, distance: (x: number, y: number) => number) => Point | null} */
function closest([cx, cy], limit, distance) {
  /** @type {Point | null} */
  let best = null;
  for (const point of points.filter(isShown)) {
    const [px, py] = place(point[1], point[2]);
    const far = distance(px - cx, py - cy);
    if (far < limit) [limit, best] = [far, point];
  }
  return best;
}

/** The point that a click would show gets a ring. @param {Point | null} point */
function ring(point) {
  draw();
  if (!point) return;
  Object.assign(pen, { lineWidth: 2, strokeStyle: pen.fillStyle });
  pen.beginPath();
  pen.arc(...place(point[1], point[2]), 10, 0, 7);
  pen.stroke();
}

/** @type {Record<string, Place>} */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** @type {Record<string, number>} */
const ZOOMS = { "+": 1.5, "=": 1.5, "-": 1 / 1.5, 0: 0 };

function steer() {
  /** Where the pointer was pressed, and the middle of the lens then. @type {number[] | null} */
  let held = null;
  let isDragged = false;
  canvas.addEventListener("pointerdown", (event) => {
    hover(null);
    held = [event.clientX, event.clientY, lens.x, lens.y];
    isDragged = false;
    lasso = event.shiftKey || hasLasso ? new Path2D() : null;
    if (lasso) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", () => {
    const path = isDragged && lasso;
    pen.resetTransform();
    if (path) choose(points.filter((point) => isShown(point) && pen.isPointInPath(path, ...place(point[1], point[2]))).map(([row]) => row));
    lasso = null;
    draw();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!event.buttons || !held) return event.pointerType === "touch" ? undefined : hover(nearest(event));
    const [dx, dy] = [event.clientX - held[0], event.clientY - held[1]];
    isDragged ||= Math.hypot(dx, dy) > 4;
    if (lasso) {
      // A busy browser hands over several moves at once.
      for (const one of [...event.getCoalescedEvents(), event]) lasso.lineTo(...here(one));
      return draw();
    }
    const unit = 1000 / lens.scale;
    return move(lens.scale, held[2] - (dx / canvas.clientWidth) * unit, held[3] + (dy / canvas.clientHeight) * unit);
  });
  canvas.addEventListener("pointerleave", () => hover(null));
  canvas.addEventListener("click", (event) => !isDragged && inspect(nearest(event)));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(1.2 ** -Math.sign(event.deltaY), ...here(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in STEPS) inspect(next(STEPS[event.key]));
    else if (event.key === " " && current) {
      if (!chosen.delete(current[0])) chosen.add(current[0]);
      choose(chosen);
      ring(current);
    } else if (event.key in ZOOMS) zoom(ZOOMS[event.key], ...(current ? place(current[1], current[2]) : []));
    else return;
    event.preventDefault();
  });
}

/** The point under the pointer. @type {Point | null} */
let hovered = null;

/** Hover shows the item, and the name of its group. @param {Point | null} point */
function hover(point) {
  if (point === hovered) return;
  hovered = point;
  ring(point);
  hidePreview();
  if (!point) return;
  soon(async () => {
    const reply = await get(`item/${point[0]}`).catch(() => null);
    if (!reply || hovered !== point || !canvas.isConnected || byId("view-map").hidden) return;
    const group = looks.get(point[3])?.group;
    const [x, y] = place(point[1], point[2]);
    const { left, top } = canvas.getBoundingClientRect();
    showPreview(reply.item, group ?? null, (group && (group.name || group.summary)) || (group ? "" : "a smaller group"), { left: left + x, top: top + y - REACH, width: 0, bottom: top + y + REACH });
  });
}

async function inspect(/** @type {Point | null} */ point) {
  if (!point) return;
  current = point;
  ring(point);
  const reply = await look(`item/${point[0]}`);
  if (!reply || current !== point) return;
  const { item, group } = reply;
  fill(panel,
    el("h2", { dir: "auto" }, item.title),
    el("p", { class: "hint line" }, howMark(item), howWords(item)),
    partsOf({ ...item, view: { ...item.view, text: item.view.text?.slice(0, 600) } }, () => pictureAt(middleOf(item.image), item)),
    el("p", { class: "line" },
      button(["Its\u00a0group ", groupLine(group)], () => openGroup(group.id)),
      button("Enlarge", () => enlarge(item)),
      button("Does not fit there", () => doubt(item))));
}

// -- marks: one color and shape per group, filled as it is known -----------------------------------

/** @type {(style: Look | undefined, how: number) => Node} */
function sample(style, how) {
  const shape = el("canvas", { width: 28, height: 28, ariaHidden: "true" });
  const own = penOf(shape);
  own.scale(2, 2);
  mark(own, 7, 7, 5, style, how);
  return shape;
}

/** The shapes, for a size of 1. @type {Record<string, Path2D>} */
const SHAPES = {
  circle: new Path2D("M1 0A1 1 0 1 1 -1 0A1 1 0 1 1 1 0Z"),
  square: new Path2D("M-.9-.9H.9V.9H-.9Z"),
  triangle: new Path2D("M0-1.15L1.1.85H-1.1Z"),
  diamond: new Path2D("M0-1.3L1 0 0 1.3-1 0Z"),
  cross: new Path2D("M-.38-1H.38V-.38H1V.38H.38V1H-.38V.38H-1V-.38H-.38Z"),
};

/** Filled if it was said, hollow if it was learned, a dot if it is open.
 * @type {(pen: CanvasRenderingContext2D, x: number, y: number, size: number, style: Look | undefined, how: number) => void} */
function mark(pen, x, y, size, style = lookOf(null), how) {
  const r = [size * 1.15, size, size * 0.5][how];
  const path = new Path2D();
  path.addPath(SHAPES[style.shape], { a: r, d: r, e: x, f: y });
  Object.assign(pen, { fillStyle: style.color, strokeStyle: style.color, lineWidth: Math.max(1, size * 0.35) });
  if (how === 1) pen.stroke(path);
  else pen.fill(path);
}
