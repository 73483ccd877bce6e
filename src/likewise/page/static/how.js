// How it is known to which group an item belongs: said, learned with some certainty, or open.
// In words and by the shape of a mark, so that nobody needs a color.

import { el, svg } from "./dom.js";
import { tile } from "./things.js";

// Nothing that was learned is quite sure.
export const percent = (share) => (share > 0.99 ? "over 99 %" : `${Math.round(share * 100)} %`);

export function howWords(thing) {
  if (thing.how === "said") return "you said so";
  if (thing.how === "open") return "open: nothing said tells";
  return thing.certainty === null ? "learned from its likes" : `learned, ${percent(thing.certainty)} sure`;
}

// A check for what was said; a pie as full as what was learned is sure; a dashed ring for open.
export function howMark(thing) {
  const mark = svg("svg", { class: `how ${thing.how}`, viewBox: "0 0 20 20", "aria-hidden": "true" });
  mark.append(svg("circle", { class: "rim", cx: 10, cy: 10, r: 8.5 }));
  if (thing.how === "said") mark.append(svg("path", { class: "check", d: "M5.5 10.5l3 3 6-7" }));
  if (thing.how === "learned") {
    mark.append(thing.certainty === null ? svg("circle", { class: "part", cx: 10, cy: 10, r: 3.5 }) : svg("path", { class: "part", d: pie(thing.certainty) }));
  }
  return mark;
}

function pie(share) {
  const turn = Math.min(share, 0.999) * 2 * Math.PI;
  const [x, y] = [10 + 6.5 * Math.sin(turn), 10 - 6.5 * Math.cos(turn)];
  return `M10 10V3.5A6.5 6.5 0 ${share > 0.5 ? 1 : 0} 1 ${x.toFixed(2)} ${y.toFixed(2)}Z`;
}

// An item in small with its mark in the corner.
export function knownTile(thing, className) {
  return el("span", { class: "known", title: `${thing.id}: ${howWords(thing)}` }, tile(thing, { className }), howMark(thing), el("span", { class: "unseen" }, `, ${howWords(thing)}`));
}

const PARTS = [["said", "said"], ["learned", "learned"], ["open", "open"]];

function counts(groups) {
  const sum = (name) => groups.reduce((n, group) => n + group[name], 0);
  const [said, open, size] = [sum("n_said"), sum("n_open"), sum("size")];
  return { said, open, learned: size - said - open, doubtful: sum("n_doubtful") };
}

// “12 said, 120 learned (9 in doubt), 18 open”; what there is none of is left out.
export function knownLine(...groups) {
  const n = counts(groups);
  const parts = PARTS.filter(([name]) => n[name] > 0).map(([name, word]) => `${n[name].toLocaleString("en")} ${word}${name === "learned" && n.doubtful ? ` (${n.doubtful.toLocaleString("en")} in doubt)` : ""}`);
  return parts.join(", ");
}

// The same as a bar, with a pattern for each part.
export function knownBar(...groups) {
  const n = counts(groups);
  return el("span", { class: "known-bar", ariaHidden: "true" },
    ...PARTS.filter(([name]) => n[name] > 0).map(([name]) => {
      const part = el("span", { class: name });
      part.style.flexGrow = n[name];
      return part;
    }));
}

export function howLegend() {
  return el("p", { class: "how-legend hint" },
    ...[[{ how: "said" }, "you said so"], [{ how: "learned", certainty: 0.8 }, "learned from your answers, as sure as the disc is full"], [{ how: "open" }, "open: nothing said tells where it belongs"]].map(([thing, words]) => el("span", {}, howMark(thing), words)));
}
