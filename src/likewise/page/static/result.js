// The groups, what stayed open, a check of the answers, and the downloads.

import { app, carryOut, change, changeInTurn, fetchProgress, look, take } from "./app.js";
import { undo } from "./ask.js";
import { button, byId, el, keyMark, moreButton, plural, signed, WORDS } from "./dom.js";
import { nameField, openFind, openGroup } from "./group.js";
import { mostInDoubt, openCheck } from "./mend.js";
import { showPair } from "./pair.js";
import { curve, groupName, howLegend, knownBar, knownLine, knownTile, tile } from "./things.js";

const PAGE = 60;

export async function showResult() {
  const [found, ways] = await Promise.all([look(`groups?limit=${PAGE}`), look("formats"), fetchProgress(app.state)]);
  // A reply that came late must not hide a newer one.
  if (!found || !ways || found.position < app.state.position) return;
  const { state } = app;
  const view = byId("view-result");
  const cards = el("ul", { class: "groups" }, ...found.groups.map(card));
  const unsure = el("div", { id: "unsure" });
  const checks = el("div", { id: "checks" });
  view.replaceChildren(
    el("div", { class: "result-head" },
      el("div", { class: "result-words" },
        el("h1", { id: "result-title" }, heading(state, found)),
        el("p", { class: "quality" }, state.outlook.line, " ", curve(state.completeness)),
        el("p", { class: "hint" }, `${plural(found.total.size, "item")}: ${knownLine(found.total)}. ${summary(state)}`),
        knownBar(found.total)),
      el("div", { class: "result-ways" }, goOn(state), inDoubt(found), button("Find items", () => openFind()), exports(ways.formats),
        button(["Undo ", el("kbd", {}, "Z")], undo, { class: "quiet", disabled: !state.can_undo })),
      howLegend()),
    cards,
    ...moreButton(cards, found.n, () => "Show more groups", async (at) => (await look(`groups?limit=${PAGE}&offset=${at}`))?.groups.map(card)),
    unsure, checks);
  showUnsure(unsure);
  showChecks(checks);
}

/** @type {(state: State, found: Reply<"groups">) => string} */
function heading(state, found) {
  const n = plural(found.n, "group");
  if (!found.total.n_said) return `${n} before any answer`;
  return state.is_done ? `Done: ${n}` : `${n} so far`;
}

function summary(/** @type {State} */ state) {
  const { unsure } = state.progress;
  const said = `You gave ${plural(state.progress.answered, "answer")}`;
  return unsure ? `${said}, and were not sure ${unsure === 1 ? "once" : `${unsure} times`}.` : `${said}.`;
}

/** The main button while more questions help. When COBRA is done, there may be doubt left within its super-instances. @param {State} state */
function goOn(state) {
  const look = state.outlook.can_stop ? "plain" : "primary";
  if (!state.is_done) return el("a", { href: "#ask", class: look }, "Go on with the questions");
  return state.outlook.can_go_on ? refineButton("Go on where doubt is left", look) : null;
}

/** The group with the most doubtful items first, these on top. @param {{ groups: Group[] }} found */
function inDoubt({ groups }) {
  const most = mostInDoubt(groups);
  return most && button("Check the least certain", () => openCheck(most.id));
}

function card(/** @type {Group} */ group) {
  const label = el("span", { class: "unseen" }, `All ${plural(group.size, "member")} of ${groupName(group)}: `);
  const open = button([label, ...group.typical.map((thing) => knownTile(thing))], () => openGroup(group.id), { class: "tiles", title: "All members" });
  return el("li", { class: "group" },
    el("div", { class: "named" }, keyMark(group), nameField(group, () => (label.textContent = `All ${plural(group.size, "member")} of ${groupName(group)}: `))),
    open,
    knownBar(group),
    el("p", { class: "hint" }, `${plural(group.size, "item")}: ${knownLine(group)}`),
    group.summary && group.name ? el("p", { class: "hint", dir: "auto" }, group.summary) : null);
}

/** One main download; the others are in a menu. @param {Format[]} formats */
function exports(formats) {
  /** @type {(format: Format, look: string, words?: string) => Node} */
  const link = ({ format, title }, look, words = title) => el("a", { href: `api/export/${format}`, download: "", class: look }, words);
  const [first, ...others] = formats;
  return el("div", { class: "exports" },
    link(first, app.state.outlook.can_stop ? "primary" : "plain", `Download ${first.title}`),
    el("details", { class: "menu" }, el("summary", { class: "plain" }, "Other formats"),
      el("ul", {}, ...others.map((way) => el("li", {}, link(way, "quiet"))))));
}

async function showUnsure(/** @type {HTMLElement} */ box) {
  const found = await look("unsure");
  if (!found?.n) return;
  box.replaceChildren(
    el("h2", {}, "What stayed unsure"),
    el("p", { class: "hint" }, unsureWords(found)),
    el("ul", { class: "log" }, ...found.pairs.map(({ left, right, is_together: isTogether }) =>
      el("li", { class: "open-pair" }, tile(left), tile(right), el("span", { class: "titles", dir: "auto" }, `${left.title} – ${right.title}`),
        el("span", { class: "hint" }, isTogether ? "in one group" : "in different groups"),
        .../** @type {const} */ (["same", "different"]).map((word) => button(signed(word), () => carryOut("settle", { left: left.row, right: right.row, answer: word })))))));
}

function unsureWords(/** @type {Unsure} */ { n, n_together: together }) {
  const them = n === 1 ? "it" : "them";
  const said = `You were not sure about ${plural(n, "pair")}, and nothing else you said decides ${them}.`;
  const done = together ? `${together} of ${n} ${together === 1 ? "is" : "are"} in one group all the same: a guess, by how alike the two are.` : `${n === 1 ? "It is" : "They are"} in different groups.`;
  return `${said} ${done} Decide now, or leave ${them} so.`;
}

async function showChecks(/** @type {HTMLElement} */ box) {
  const found = await look("checks");
  if (!found?.checks.length) return;
  box.replaceChildren(
    el("h2", {}, "Check yourself"),
    el("p", { class: "hint" }, "These questions are about pairs that were settled without asking. They change nothing."),
    ...checkBody(box, found));
}

/** @type {(box: HTMLElement, found: Checks) => Node[]} */
function checkBody(box, found) {
  const open = found.checks.findIndex((check) => check.said === null);
  const results = found.checks.filter((check) => check.said !== null).map(outcome);
  const done = results.length ? [verdict(found), el("ul", { class: "checked" }, ...results)] : [];
  if (open < 0) return done;
  const check = found.checks[open];
  const start = button(results.length ? "Next one" : `Ask me ${found.checks.length} of them`,
    () => askCheck(start, box, check, open + 1, found.checks.length), { class: "plain next" });
  return [...done, start];
}

/** @type {(start: HTMLElement, box: HTMLElement, check: Check, number: number, n: number) => void} */
function askCheck(start, box, check, number, n) {
  const pair = el("div", { class: "pair" });
  const tools = el("div", { class: "tools" });
  const answers = el("div", { class: "answers small", role: "group", ariaLabel: `Check ${number} of ${n}` },
    .../** @type {const} */ (["different", "unsure", "same"]).map((word) => button(signed(word), () => tell(word), { class: `answer ${word}` })));
  const tell = async (/** @type {Word} */ word) => {
    const reply = await change("checks", { left: check.left.row, right: check.right.row, answer: word });
    if (!reply) return;
    await showChecks(box);
    /** @type {HTMLElement | null} */ (box.querySelector("button.next"))?.click();
  };
  start.replaceWith(el("div", { class: "check" }, el("h3", {}, `Check ${number} of ${n}: do these two belong together?`), pair, tools, answers));
  showPair(pair, tools, check.left, check.right);
  answers.firstChild.focus({ preventScroll: true });
}

function verdict(/** @type {Checks} */ found) {
  const [low, high] = found.interval.map((share) => `${Math.round(share * 100)} %`);
  const words = found.n_wrong
    ? `${found.n_wrong} of ${plural(found.n, "check")} came out differently: between ${low} and ${high} of what was settled without asking may be wrong.`
    : `${plural(found.n, "check")}, no disagreement: with so few, up to ${high} of what was settled without asking may still be wrong.`;
  return el("p", { role: "status", class: "verdict" }, words);
}

function outcome(/** @type {Check} */ check) {
  const said = check.said ?? "unsure";
  const agrees = said === "unsure" || said === check.expected;
  const line = agrees
    ? `${check.left.title} – ${check.right.title}: ${WORDS[said]}${said === "unsure" ? "" : ", which agrees"}`
    : `${check.left.title} – ${check.right.title}: you say ${WORDS[said]}, your answers imply ${WORDS[check.expected]}. One of these is wrong: `;
  return el("li", { class: agrees ? "" : "disagrees", dir: "auto" }, line,
    ...(agrees ? [] : check.because.flatMap((number, k) => [k ? ", " : "", el("a", { href: `#history/${number}` }, `answer ${number}`)])));
}

/** @type {(words: string, look: string) => Node} */
function refineButton(words, look) {
  const go = button(words, async () => {
    go.disabled = true;
    go.setAttribute("aria-busy", "true");
    const next = await changeInTurn("refine", {});
    go.disabled = false;
    go.removeAttribute("aria-busy");
    if (!next) return;
    await take(next);
    location.hash = next.is_done ? "#result" : "#ask";
  }, { class: look });
  return go;
}
