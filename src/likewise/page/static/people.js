// Where several people answer: how often they agree, and the questions on which they do not.

import { carryOut } from "./app.js";
import { button, el, plural } from "./dom.js";
import { groupLine, tile } from "./things.js";

const percent = (/** @type {number} */ share) => `${Math.round(100 * share)}%`;

/** Nothing before two people have answered the same question. @param {Agreement} reply */
export function agreementOf({ pairs, disagreements }) {
  return pairs.length > 0 && el("section", { class: "agreement", "aria-labelledby": "agreement-title" },
    el("h2", { id: "agreement-title" }, "How people agree"),
    el("ul", {}, pairs.map(line)),
    disagreements.length > 0 && el("h3", {}, `${plural(disagreements.length, "disagreement")} to decide`),
    disagreements.length > 0 && el("ol", { class: "log disagreements" }, disagreements.map(entry)));
}

/** @param {Agreement["pairs"][number]} pair */
function line({ people, n, n_same: nSame, n_unsure: nUnsure, interval, kappa, kappa_interval: around }) {
  const [low, high] = interval.map(percent);
  const share = n ? `the same ${nSame} of ${plural(n, "time")}, so in ${low} to ${high} of cases` : "nothing to compare yet";
  return el("li", { dir: "auto" }, el("b", {}, people.join(" and ")), ` said ${share}`,
    kappa !== null && el("span", { class: "hint" }, ` (Cohen’s kappa ${kappa.toFixed(2)}${around ? `, ${around.map((end) => end.toFixed(2)).join(" to ")}` : ""})`), nUnsure > 0 && `; not sure ${plural(nUnsure, "time")}`);
}

/** @param {Disagreement} one */
function entry({ disagreement, item, groups, said }) {
  const isPair = groups.length === 1;
  const words = (/** @type {number | null} */ place) => {
    if (place === null) return isPair ? "it differs" : "none of these";
    return isPair ? ["the same as ", groupLine(groups[0])] : groupLine(groups[place]);
  };
  const decide = (/** @type {number | null} */ chosen) => carryOut("decide", { disagreement, chosen });
  return el("li", { class: "disagreement" }, tile(item),
    el("ul", { class: "sides" }, said.map(({ by, chosen }) => el("li", { dir: "auto" }, el("b", {}, by), " says ", chosen.length ? chosen.map(words) : words(null)))),
    el("p", { class: "tools" }, "Right is ", groups.map((_, place) => button(words(place), () => decide(place), { dir: "auto" })), button(words(null), () => decide(null))));
}
