// The marks of the map: one color and shape per group, filled as it is known.

import { el } from "./dom.js";

// Color and shape together, so that the map can be read without color.
const COLORS = ["#0b7fab", "#d1495b", "#2f8f5b", "#c77d0a", "#7b5cc4", "#1f9e9e", "#b0488f", "#6b7f1e", "#8c5a3c", "#4a6fdc"];
const SHAPES = ["circle", "square", "triangle", "diamond", "cross"];

export function lookOf(k) {
  return { color: COLORS[k % COLORS.length], shape: SHAPES[(k + Math.floor(k / COLORS.length)) % SHAPES.length], number: k + 1 };
}

export function sample(style, how) {
  const shape = el("canvas", { width: 28, height: 28, ariaHidden: "true" });
  const pen = shape.getContext("2d");
  pen.scale(2, 2);
  mark(pen, 7, 7, 5, style, how);
  return shape;
}

// Filled if it was said, hollow if it was learned, a dot if it is open.
export function mark(pen, x, y, size, style, how) {
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
