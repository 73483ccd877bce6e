// All items as points, alike ones near each other, marked by their group.

import { look } from "./app.js";
import { button, byId, el, lookOf, plural } from "./dom.js";
import { doubt, openFind, openGroup } from "./group.js";
import { enlarge } from "./mend.js";
import { partsOf } from "./pair.js";
import { groupLine, groupName, howMark, howWords, knownLine, smallPicture } from "./things.js";

const MARGIN = 24;
const WORDS = {
  learned: "Laid out by what your answers taught: what tells the groups apart counts most. Directions have no meaning.",
  alike: "Alike items are near each other. Directions have no meaning.",
};

/** @typedef {[x: number, y: number]} Place */

/** @type {HTMLCanvasElement} */
let canvas;
/** @type {HTMLElement} */
let panel;
/** @type {Point[]} */
let points = [];
/** @type {Map<number, Look & { group: Group }>} */
let looks = new Map();
/** @type {{ group: Group, at: Place }[]} */
let labels = [];
/** The group that is shown alone. @type {number | null} */
let only = null;
// The part of the map that is seen: how large, and which place is in its middle.
let lens = { scale: 1, x: 500, y: 500 };
/** @type {Point | null} */
let current = null;
/** The rows that were ringed or ticked. @type {Set<number>} */
let chosen = new Set();
/** The corners of the lasso while it is drawn. @type {Place[] | null} */
let lasso = null;
let hasLasso = false;

export async function showMap() {
  const view = byId("view-map");
  view.replaceChildren(el("h1", { id: "map-title" }, "Map"), el("p", { class: "hint" }, "Drawing …"));
  const found = await look("map");
  if (!found) return;
  points = found.points;
  only = current = lasso = null;
  chosen = new Set();
  lens = { scale: 1, x: 500, y: 500 };
  looks = new Map(found.groups.map((group) => [group.id, { ...lookOf(group.number), group }]));
  labels = found.groups.flatMap((group) => (group.key && points.some((point) => point[3] === group.id) ? [{ group, at: middle(group.id) }] : []));
  canvas = el("canvas", { tabIndex: 0, role: "application", ariaLabel: `${plural(points.length, "item")} as points, marked by group. Arrows go from item to item, space ticks one, plus and minus zoom. The groups are listed beside it.` });
  panel = el("div", { class: "inspect", ariaLive: "polite" }, el("p", { class: "hint" }, "Click a point to see it, or go from one to the next with the arrows. Scroll or +\u00a0and\u00a0− zooms, dragging moves the map. With Shift, or after “Lasso”, dragging rings several items."));
  /** @type {[string, string, number][]} */
  const zooms = [["+", "Zoom in", 1.5], ["−", "Zoom out", 1 / 1.5], ["Whole map", "Whole map", 0]];
  const ring = button("Lasso", () => {
    hasLasso = !hasLasso;
    ring.setAttribute("aria-pressed", String(hasLasso));
  }, { "aria-pressed": String(hasLasso) });
  const open = button("", () => openFind([...chosen].slice(0, 500)), { id: "chosen", class: "primary", hidden: true });
  const buttons = el("p", { class: "zooms" }, ...zooms.map(([words, ariaLabel, factor]) => button(words, () => zoom(factor), { ariaLabel })), ring, open);
  view.replaceChildren(
    el("h1", { id: "map-title" }, "Map"),
    el("p", { class: "hint" }, points.length < found.n ? `A sample: ${points.length.toLocaleString("en")} of ${plural(found.n, "item")}; counts are of all. ${WORDS[found.layout]}` : WORDS[found.layout]),
    el("div", { class: "map-box" }, el("div", { class: "map" }, canvas, buttons), el("div", { class: "map-side" }, panel, legend(found))));
  draw();
  steer();
  new ResizeObserver(draw).observe(canvas);
}

/** The middle of a group on the map, by the median of both coordinates. @type {(id: number) => Place} */
function middle(id) {
  const inside = points.filter(([, , , group]) => group === id);
  const median = (/** @type {1 | 2} */ k) => inside.map((point) => point[k]).sort((a, b) => a - b)[inside.length >> 1];
  return [median(1), median(2)];
}

function choose(/** @type {Iterable<number>} */ rows) {
  chosen = new Set(rows);
  byId("chosen").hidden = !chosen.size;
  byId("chosen").textContent = `Open ${plural(chosen.size, "item")}`;
}

/** Whether a place lies inside a ring of corners: a line to the right crosses it an odd number of times. @type {(place: Place, ring: Place[]) => boolean} */
const isInside = ([x, y], ring) => ring.reduce((is, [x1, y1], k) => {
  const [x2, y2] = ring[(k + 1) % ring.length];
  return (y1 > y) !== (y2 > y) && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1 ? !is : is;
}, false);

/** A press on a group shows it alone; a second one shows all again. @param {MapReply} found */
function legend({ groups, n_groups: nGroups }) {
  /** @type {(event: Event, id: number) => void} */
  const filter = (event, id) => {
    only = only === id ? null : id;
    for (const one of byId("view-map").querySelectorAll(".legend button[aria-pressed]")) one.setAttribute("aria-pressed", String(only !== null && one === event.currentTarget));
    draw();
  };
  const rest = nGroups - groups.length;
  return el("div", {},
    el("ul", { class: "legend" }, ...groups.map((group) =>
      el("li", {},
        button([sample(looks.get(group.id), 0), groupLine(group)],
          (event) => filter(event, group.id), { class: "quiet", "aria-pressed": "false", title: `${knownLine(group)}. Show it alone.` }),
        button("Open", () => openGroup(group.id), { class: "quiet", ariaLabel: `Open ${groupName(group)}` }))),
    rest > 0 ? el("li", { class: "hint" }, `and ${plural(rest, "smaller group")}, in gray`) : ""),
    el("ul", { class: "legend hint" }, ...["you said so", "learned", "open"].map((words, how) => el("li", {}, sample(undefined, how), ` ${words}`))));
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
  const pen = penOf(canvas);
  pen.scale(ratio, ratio);
  const size = points.length > 1500 ? 2.6 : points.length > 300 ? 4 : 5.5;
  pen.globalAlpha = 0.85;
  // What was said lies on top.
  for (const wanted of [2, 1, 0]) {
    for (const [row, x, y, group, how] of points.filter(isShown)) if (how === wanted) mark(pen, ...place(x, y), chosen.has(row) ? size * 1.8 : size, looks.get(group), how);
  }
  pen.globalAlpha = 1;
  const { color, backgroundColor } = getComputedStyle(canvas);
  if (lasso) {
    Object.assign(pen, { strokeStyle: color, lineWidth: 1.5 });
    pen.beginPath();
    polygon(pen, lasso);
    pen.stroke();
  }
  // The key and the name of each group stand on its middle.
  Object.assign(pen, { font: "600 13px system-ui, sans-serif", textAlign: "center", lineWidth: 4, strokeStyle: backgroundColor, fillStyle: color });
  for (const { group, at } of labels) {
    if (only !== null && group.id !== only) continue;
    const words = [group.key.toUpperCase(), group.name.slice(0, 24)].filter(Boolean).join(" · ");
    pen.strokeText(words, ...place(at[0], at[1]));
    pen.fillText(words, ...place(at[0], at[1]));
  }
}

/** @type {(canvas: HTMLCanvasElement) => CanvasRenderingContext2D} */
const penOf = (canvas) => /** @type {any} */ (canvas.getContext("2d"));

const isShown = (/** @type {Point} */ [, , , group]) => only === null || group === only;

/** Where a pointer is on the canvas. @type {(event: MouseEvent) => Place} */
function here({ clientX, clientY }) {
  const at = canvas.getBoundingClientRect();
  return [clientX - at.left, clientY - at.top];
}

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

/** The point that a click would show gets a ring, and its group a word. @param {Point | null} point */
function ring(point) {
  draw();
  const group = point && looks.get(point[3])?.group;
  canvas.title = point ? `item ${point[0]}, ${group ? groupName(group) : "a smaller group"}` : "";
  if (!point) return;
  const pen = penOf(canvas);
  pen.lineWidth = 2;
  pen.strokeStyle = getComputedStyle(canvas).color;
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
    held = [event.clientX, event.clientY, lens.x, lens.y];
    isDragged = false;
    lasso = event.shiftKey || hasLasso ? [here(event)] : null;
    if (lasso) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", () => {
    const corners = lasso ?? [];
    if (corners.length > 2) choose(points.filter((point) => isShown(point) && isInside(place(point[1], point[2]), corners)).map(([row]) => row));
    lasso = null;
    draw();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!event.buttons || !held) return ring(nearest(event));
    const [dx, dy] = [event.clientX - held[0], event.clientY - held[1]];
    isDragged ||= Math.hypot(dx, dy) > 4;
    if (lasso) {
      // A busy browser hands over several moves at once.
      lasso.push(...event.getCoalescedEvents().map(here), here(event));
      return draw();
    }
    const unit = 1000 / lens.scale;
    return move(lens.scale, held[2] - (dx / canvas.clientWidth) * unit, held[3] + (dy / canvas.clientHeight) * unit);
  });
  canvas.addEventListener("click", (event) => !isDragged && inspect(nearest(event)));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(1.2 ** -Math.sign(event.deltaY), ...here(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in STEPS) inspect(next(STEPS[event.key]));
    else if (event.key === " " && current) {
      const [row] = current;
      choose(chosen.has(row) ? [...chosen].filter((one) => one !== row) : [...chosen, row]);
      ring(current);
    } else if (event.key in ZOOMS) zoom(ZOOMS[event.key], ...(current ? place(current[1], current[2]) : []));
    else return;
    event.preventDefault();
  });
}

async function inspect(/** @type {Point | null} */ point) {
  if (!point) return;
  current = point;
  ring(point);
  const found = await look(`item/${point[0]}`);
  if (!found || current !== point) return;
  const { item, group } = found;
  panel.replaceChildren(
    el("h2", { dir: "auto" }, item.title),
    el("p", { class: "hint" }, howMark(item), howWords(item)),
    ...partsOf({ ...item, view: { ...item.view, text: item.view.text?.slice(0, 600) } }, () => smallPicture(item)),
    el("p", {},
      button(["Its\u00a0group ", groupLine(group)], () => openGroup(group.id)),
      button("Enlarge", () => enlarge(item)),
      button("Does not fit there", () => doubt(item))));
}

// -- marks: one color and shape per group, filled as it is known -----------------------------------

/** @type {(style: Look | undefined, how: number) => Node} */
function sample(style, how) {
  const shape = el("canvas", { width: 28, height: 28, ariaHidden: "true" });
  const pen = penOf(shape);
  pen.scale(2, 2);
  mark(pen, 7, 7, 5, style, how);
  return shape;
}

/** The corners of the shapes that are not round, for a size of 1. @type {Record<string, Place[]>} */
const CORNERS = {
  square: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
  triangle: [[0, -1.15], [1.1, 0.85], [-1.1, 0.85]],
  diamond: [[0, -1.3], [1, 0], [0, 1.3], [-1, 0]],
  cross: [[-0.38, -1], [0.38, -1], [0.38, -0.38], [1, -0.38], [1, 0.38], [0.38, 0.38], [0.38, 1], [-0.38, 1], [-0.38, 0.38], [-1, 0.38], [-1, -0.38], [-0.38, -0.38]],
};

/** Filled if it was said, hollow if it was learned, a dot if it is open.
 * @type {(pen: CanvasRenderingContext2D, x: number, y: number, size: number, style: Look | undefined, how: number) => void} */
function mark(pen, x, y, size, style = lookOf(null), how) {
  const r = [size * 1.15, size, size * 0.5][how];
  pen.fillStyle = pen.strokeStyle = style.color;
  pen.lineWidth = Math.max(1, size * 0.35);
  const corners = CORNERS[style.shape];
  pen.beginPath();
  if (corners) polygon(pen, corners.map(([dx, dy]) => [x + dx * r, y + dy * r]));
  else pen.arc(x, y, r, 0, 7);
  if (how === 1) pen.stroke();
  else pen.fill();
}

/** @type {(pen: CanvasRenderingContext2D, corners: Place[]) => void} */
function polygon(pen, corners) {
  for (const [x, y] of corners) pen.lineTo(x, y);
  pen.closePath();
}
