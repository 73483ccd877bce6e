// Check yourself: questions whose answers are known already. They change no group.

import { change, look, notice, openDialog } from "./app.js";
import { button, el, first, plural, signed, WORDS } from "./dom.js";
import { showPair } from "./pair.js";

/** @type {(...content: any[]) => void} */
const show = (...content) => openDialog("group", el("h2", { id: "group-title" }, "Check yourself"), content);

/** The next question that was not answered yet, or how it went. */
export async function openChecks() {
  const reply = await look("checks");
  if (!reply) return;
  const { checks } = reply;
  const next = checks.findIndex((check) => check.said === null);
  if (next >= 0) askCheck(checks[next], next + 1, checks.length);
  else showOutcome(reply);
}

/** @type {(check: Check, number: number, n: number) => void} */
function askCheck(check, number, n) {
  const [pair, tools] = [el("div", { class: "pair" }), el("div", { class: "tools" })];
  const answers = el("div", { class: "answers", role: "group", ariaLabel: `Check ${number} of ${n}` },
    /** @type {const} */ (["different", "unsure", "same"]).map((word) => button([signed(word), " ", el("kbd", {}, word[0].toUpperCase())], async () => {
      if (await change("checks", { left: check.left.row, right: check.right.row, answer: word })) await openChecks();
    }, { class: `answer ${word}` })));
  show(el("p", { class: "hint" }, `${number} of ${n}: this pair was settled without asking you. Your answer changes no group.`),
    el("div", { class: "check" }, el("h3", {}, "Do these two belong together?"), pair, tools, answers));
  showPair(pair, tools, check.left, check.right);
  answers.firstChild.focus({ preventScroll: true });
}

/** @param {Checks} reply */
function showOutcome(reply) {
  if (!reply.checks.length) return notice("There is nothing to check yet: no pair was settled without asking.");
  show(el("p", { role: "status", class: "verdict" }, verdict(reply)), el("ul", { class: "checked" }, reply.checks.map(outcome)));
  return first("#group-dialog form button").focus();
}

function verdict(/** @type {Checks} */ { n, n_wrong: nWrong, interval }) {
  const [low, high] = interval.map((share) => `${Math.round(share * 100)}%`);
  return nWrong
    ? `${nWrong} of ${plural(n, "check")} came out differently: between ${low} and ${high} of what was settled without asking may be wrong.`
    : `${plural(n, "check")}, no disagreement: with so few, up to ${high} of what was settled without asking may still be wrong.`;
}

function outcome(/** @type {Check} */ { left, right, said, expected, because }) {
  const word = said ?? "unsure";
  const pair = `${left.title} – ${right.title}: `;
  if (word === "unsure" || word === expected) return el("li", { dir: "auto" }, pair, WORDS[word], word !== "unsure" && ", which agrees");
  return el("li", { class: "disagrees", dir: "auto" }, pair, `you say ${WORDS[word]}, your answers imply ${WORDS[expected]}. One of these is wrong: `,
    because.map((number, k) => [k > 0 && ", ", el("a", { href: `#history/${number}` }, `answer ${number}`)]));
}
