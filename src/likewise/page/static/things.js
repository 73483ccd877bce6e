// One item in small: a picture, a spark line or a line of text.

import { showPicture } from "./api.js";
import { el, svg } from "./dom.js";

export const smallPicture = (thing, props = {}) => showPicture(el("img", { alt: thing.title, ...props }), `${thing.image}&size=small`);

// While one element has a picture, others that show it too need not wait.
const kept = new Map();
const MOST_KEPT = 60;

export function fetchSmall(thing) {
  const image = kept.get(thing.image) ?? smallPicture(thing);
  kept.delete(thing.image);
  kept.set(thing.image, image);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
}

// Tiles of a question are wanted `now`, others when they are scrolled to.
export function tile(thing, { className = "tile", now = false } = {}) {
  if (thing.image) return smallPicture(thing, { class: className, title: thing.id, loading: now ? "eager" : "lazy", draggable: false });
  if (thing.spark) return el("span", { class: `${className} spark`, title: thing.id }, spark(thing.spark, thing.title));
  return el("span", { class: `${className} words`, title: thing.id, dir: "auto" }, thing.line || thing.title);
}

function spark(values, title) {
  const points = values.map((y, k) => `${((k / Math.max(1, values.length - 1)) * 96 + 2).toFixed(1)},${(46 - y * 0.44).toFixed(1)}`);
  return svg("svg", { viewBox: "0 0 100 48", role: "img", "aria-label": title, preserveAspectRatio: "none" },
    svg("polyline", { points: points.join(" ") }));
}

export function groupName(group) {
  return group.name || group.summary || `the group of ${group.typical[0]?.title ?? ""}`;
}
