// The groups so far or for good, what stayed open, a check of one's own answers, and the way out.

import { app, change, look, take } from "./app.js";
import { byId, el, plural, SIGNS, WORDS } from "./dom.js";
import { nameField, openGroup } from "./group.js";
import { showPair } from "./pair.js";
import { groupName, tile } from "./things.js";

const PAGE = 60;

export async function showResult() {
  const [found, ways] = await Promise.all([look(`groups?limit=${PAGE}`), look("formats")]);
  if (!found || !ways) return;
  const { state } = app;
  const view = byId("view-result");
  const cards = el("ul", { class: "groups" }, ...found.groups.map(card));
  const unsure = el("div", { id: "unsure" });
  const checks = el("div", { id: "checks" });
  view.replaceChildren(
    el("h1", { id: "result-title" }, state.is_done ? `Done: ${plural(found.n, "group")}` : `${plural(found.n, "group")} so far`),
    el("p", { class: "lead" }, summary(state)),
    state.is_done ? "" : el("p", {}, el("a", { href: "#ask", class: "primary" }, "Go on with the questions")),
    exports(ways.formats),
    cards, ...more(found, cards),
    unsure, checks, refine(state));
  showUnsure(unsure);
  showChecks(checks);
}

function summary(state) {
  const p = state.progress;
  const said = `${plural(p.answered, "answer")} settled ${plural(p.settled_for_free, "pair")} you were not asked about.`;
  if (state.is_done) return p.unsure ? `${said} ${plural(p.unsure, "time")} you were not sure.` : said;
  return `You may stop at any time; what is undecided stays apart. At most ${plural(p.at_most, "question")} would be left, by estimate about ${p.estimate}.`;
}

function card(group) {
  const label = () => `All ${plural(group.size, "member")} of ${groupName(group)}`;
  const open = el("button", { type: "button", class: "tiles", title: "All members", ariaLabel: label(), on: { click: () => openGroup(group.id) } },
    ...group.typical.map((thing) => tile(thing)));
  return el("li", { class: "group" },
    nameField(group, () => (open.ariaLabel = label())),
    open,
    el("p", { class: "hint", dir: "auto" }, [plural(group.size, "item"), group.summary].filter(Boolean).join(" · ")));
}

function more(found, cards) {
  if (found.n <= found.groups.length) return [];
  const button = el("button", { type: "button", class: "plain" }, "Show more groups");
  button.addEventListener("click", async () => {
    const next = await look(`groups?limit=${PAGE}&offset=${cards.children.length}`);
    if (!next) return;
    cards.append(...next.groups.map(card));
    if (cards.children.length >= next.n) button.remove();
  });
  return [button];
}

function exports(formats) {
  return el("p", { class: "exports" }, el("span", {}, "Download"),
    ...formats.map(({ format, title }) => el("a", { href: `api/export/${format}`, download: "", class: "plain" }, title)));
}

async function showUnsure(box) {
  const found = await look("unsure");
  if (!found?.n) return;
  box.replaceChildren(
    el("h2", {}, "What stayed unsure"),
    el("p", { class: "hint" }, `${plural(found.n, "pair")} of groups could not be told apart or joined. They stay apart unless you decide now.`),
    el("ul", { class: "log" }, ...found.pairs.map(({ left, right }) =>
      el("li", { class: "open-pair" }, tile(left), tile(right), el("span", { class: "titles", dir: "auto" }, `${left.title} – ${right.title}`),
        ...["same", "different"].map((word) =>
          el("button", { type: "button", class: "plain", on: { click: () => settle(left, right, word) } }, `${SIGNS[word]} ${WORDS[word]}`))))));
}

async function settle(left, right, word) {
  const state = await change("settle", { left: left.row, right: right.row, answer: word });
  if (!state) return;
  take(state);
  await showResult();
}

async function showChecks(box) {
  const found = await look("checks");
  if (!found?.checks.length) return;
  box.replaceChildren(
    el("h2", {}, "Check yourself"),
    el("p", { class: "hint" }, "A wrong answer never contradicts a later one, since nothing is asked twice. These questions are about pairs that were settled without asking; they change nothing."),
    ...checkBody(box, found));
}

function checkBody(box, found) {
  const open = found.checks.findIndex((check) => check.said === null);
  const results = found.checks.filter((check) => check.said !== null).map(outcome);
  const done = results.length ? [verdict(found), el("ul", { class: "checked" }, ...results)] : [];
  if (open < 0) return done;
  const check = found.checks[open];
  const start = el("button", { type: "button", class: "primary" }, results.length ? "Next one" : `Ask me ${found.checks.length} of them`);
  start.addEventListener("click", () => askCheck(start, box, check, open + 1, found.checks.length));
  return [...done, start];
}

function askCheck(start, box, check, number, n) {
  const pair = el("div", { class: "pair" });
  const tools = el("div", { class: "tools" });
  const answers = el("div", { class: "answers small", role: "group", ariaLabel: `Check ${number} of ${n}` },
    ...["different", "unsure", "same"].map((word) => el("button", { type: "button", class: `answer ${word}`, on: { click: () => tell(word) } }, `${SIGNS[word]} ${WORDS[word]}`)));
  const tell = async (word) => {
    const reply = await change("checks", { left: check.left.row, right: check.right.row, answer: word });
    if (!reply) return;
    app.state.position = reply.position;
    await showChecks(box);
    box.querySelector("button.primary")?.click();
  };
  start.replaceWith(el("div", { class: "check" }, el("h3", {}, `Check ${number} of ${n}: do these two belong together?`), pair, tools, answers));
  showPair(pair, tools, check.left, check.right);
  answers.firstChild.focus({ preventScroll: true });
}

function verdict(found) {
  const [low, high] = found.interval.map((share) => `${Math.round(share * 100)} %`);
  const words = found.n_wrong
    ? `${found.n_wrong} of ${plural(found.n, "check")} came out differently: between ${low} and ${high} of what was settled without asking may be wrong.`
    : `${plural(found.n, "check")}, no disagreement: with so few, up to ${high} of what was settled without asking may still be wrong.`;
  return el("p", { role: "status", class: "verdict" }, words);
}

function outcome(check) {
  const agrees = check.said === "unsure" || check.said === check.expected;
  const line = agrees
    ? `${check.left.title} ${SIGNS[check.said]} ${check.right.title}: ${check.said === "unsure" ? "not sure" : "agrees"}`
    : `${check.left.title} – ${check.right.title}: you say ${WORDS[check.said]}, your answers imply ${WORDS[check.expected]}. One of these is wrong: `;
  return el("li", { class: agrees ? "" : "disagrees", dir: "auto" }, line,
    ...(agrees ? [] : check.because.map((number) => el("a", { href: `#history/${number}` }, `answer ${number}`)).flatMap((link, k) => (k ? [", ", link] : [link]))));
}

function refine(state) {
  const button = el("button", { type: "button", class: "plain" }, `Refine: ask about ${state.n_super_instances * 2} small groups instead of ${state.n_super_instances}`);
  button.addEventListener("click", async () => {
    button.disabled = true;
    button.setAttribute("aria-busy", "true");
    const next = await change("refine", {});
    button.disabled = false;
    if (!next) return;
    take(next);
    location.hash = next.is_done ? "#result" : "#ask";
  });
  return el("div", { id: "refine" },
    el("h2", {}, "Is it too coarse?"),
    el("p", { class: "hint" }, "Questions are about small groups of items that look alike. If some of these mix things up, split them: all your answers stay, and new questions come for the new parts. Undo takes it back."),
    button);
}
