// Check yourself: questions whose answers are known already. They change no group.

import { change, look, notice, openDialog } from "./app.js";
import { button, el, first, keyMark, plural, signed, WORDS } from "./dom.js";
import { figure, partsOf, showPair } from "./pair.js";
import { tile } from "./things.js";

/** @type {(...content: any[]) => void} */
const show = (...content) => openDialog("group", el("h2", { id: "group-title" }, "Check yourself"), content);

/** The next question that was not answered yet, or how it went. */
export async function openChecks() {
  const reply = await look("checks");
  if (!reply) return;
  const { checks, repeats } = reply;
  const all = [...checks, ...repeats];
  const next = all.findIndex(({ said }) => said === null);
  if (next < 0) showOutcome(reply);
  else if (next < checks.length) askPair(checks[next], next + 1, all.length, "This pair was settled without asking you.", "checks", { left: checks[next].left.row, right: checks[next].right.row });
  else askAgain(repeats[next - checks.length], next + 1, all.length);
}

const say = async (/** @type {string} */ path, /** @type {any} */ body) => (await change(path, body)) && openChecks();

/** @type {(number: number, n: number, why: string, ...content: any[]) => void} */
const ask = (number, n, why, ...content) => show(el("p", { class: "hint" }, `${number} of ${n}. ${why} Your answer changes no group.`), el("div", { class: "check" }, content));

/** @type {(asked: { left: Item, right: Item }, number: number, n: number, why: string, path: string, body: any) => void} */
function askPair(asked, number, n, why, path, body) {
  const [pair, tools] = [el("div", { class: "pair" }), el("div", { class: "tools" })];
  const answers = el("div", { class: "answers", role: "group", ariaLabel: `Check ${number} of ${n}` },
    /** @type {const} */ (["different", "unsure", "same"]).map((word) => button([signed(word), " ", el("kbd", {}, { different: "D", unsure: "U", same: "S" }[word])], () => say(path, { ...body, answer: word }), { class: `answer ${word}` })));
  ask(number, n, why, el("h3", {}, "Do these two belong together?"), pair, tools, answers);
  showPair(pair, tools, asked.left, asked.right);
  answers.firstChild.focus({ preventScroll: true });
}

const AGAIN = "You were asked this before, the other way round.";

/** @type {(repeat: Repeat, number: number, n: number) => void} */
function askAgain({ question, number: of }, number, n) {
  if (question.kind === "pair") return askPair(question, number, n, AGAIN, "repeats", { number: of });
  const { item, groups } = question;
  const choose = (/** @type {any} */ chosen) => say("repeats", { number: of, chosen });
  const options = el("ol", { class: "again" }, groups.map((group, place) => el("li", {},
    button([el("span", { class: "group-line" }, keyMark(group), el("b", { class: "cut", dir: "auto" }, group.name)), el("span", { class: "tiles" }, group.shown.map((thing) => tile(thing, "eager")))], () => choose(place), { "data-key": group.key, ariaLabel: `Group ${group.name || group.key.toUpperCase()}` }))));
  const answers = el("div", { class: "answers", role: "group", ariaLabel: `Check ${number} of ${n}` },
    button(["None of these ", el("kbd", {}, "0")], () => choose(null), { class: "answer no-group" }), button([signed("unsure"), " ", el("kbd", {}, "U")], () => choose("unsure"), { class: "answer unsure" }));
  ask(number, n, AGAIN, el("h3", {}, "Where does it belong?"), el("div", { class: "asked-again" }, figure(item, "item", partsOf(item)), options), answers);
  return options.querySelector("button").focus({ preventScroll: true });
}

/** @param {Checks} reply */
function showOutcome(reply) {
  const { checks, repeats, n_repeated: n, n_agreeing: nAgreeing } = reply;
  if (!checks.length && !repeats.length) return notice("There is nothing to check yet: answer a few questions first.");
  show(repeats.length > 0 && [el("p", { class: "verdict" }, agreementWords(n, nAgreeing)), el("ul", { class: "checked" }, repeats.map(again))],
    checks.length > 0 && [el("p", { role: "status", class: "verdict" }, verdict(reply)), el("ul", { class: "checked" }, checks.map(outcome))]);
  return first("#group-dialog form button").focus();
}

/** What the page says of it everywhere. @type {(n: number, nAgreeing: number) => string} */
export const agreementWords = (n, nAgreeing) => (n ? `You agree with yourself ${nAgreeing} of ${n}.` : "You were not sure about any question that was asked again.");

function verdict(/** @type {Checks} */ { n, n_wrong: nWrong, interval }) {
  const [low, high] = interval.map((share) => `${Math.round(share * 100)}%`);
  return nWrong
    ? `${nWrong} of ${plural(n, "check")} came out differently: between ${low} and ${high} of what was settled without asking may be wrong.`
    : `${plural(n, "check")}, no disagreement: with so few, up to ${high} of what was settled without asking may still be wrong.`;
}

const linkTo = (/** @type {number} */ number) => el("a", { href: `#history/${number}`, on: { click: () => first("#group-dialog").close() } }, `answer ${number}`);

/** @param {Repeat} repeat */
function again({ number, question, is_same: isSame }) {
  const about = question.kind === "pair" ? `${question.left.title} – ${question.right.title}: ` : `${question.item.title}: `;
  return el("li", { class: isSame === false ? "disagrees" : "", dir: "auto" }, about, isSame ? "the same answer as before" : isSame === false ? ["another answer than before: ", linkTo(number)] : WORDS.unsure);
}

/** @param {Check} check */
function outcome({ left, right, said, expected, because }) {
  const word = said ?? "unsure";
  const pair = `${left.title} – ${right.title}: `;
  if (word === "unsure" || word === expected) return el("li", { dir: "auto" }, pair, WORDS[word], word !== "unsure" && ", which agrees");
  return el("li", { class: "disagrees", dir: "auto" }, pair, `you say ${WORDS[word]}, your answers imply ${WORDS[expected]}. One of these is wrong: `,
    because.map((number, k) => [k > 0 && ", ", linkTo(number)]));
}
