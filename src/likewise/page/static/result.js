// The groups, what stayed undecided, and the downloads.

import { app, carryOut, changeInTurn, fetchProgress, look, take } from "./app.js";
import { undo } from "./ask.js";
import { openChecks } from "./check.js";
import { button, byId, capital, el, fill, keyMark, moreButton, plural, signed } from "./dom.js";
import { roving } from "./grids.js";
import { nameField, openFind, openGroup } from "./group.js";
import { mostInDoubt, openCheck } from "./mend.js";
import { aboutModel } from "./model.js";
import { betterLine, seenLine } from "./seen.js";
import { curve, groupName, howLegend, knownBar, knownLine, knownTile, tile } from "./things.js";

const PAGE = 60;

export async function showResult() {
  const [reply, ways] = await Promise.all([look(`groups?limit=${PAGE}`), look("formats"), fetchProgress(app.state)]);
  // A reply that came late must not hide a newer one.
  if (!reply || !ways || reply.position < app.state.position) return;
  const { is_done: isDone, outlook, progress, completeness, model, can_undo: canUndo } = app.state;
  const n = plural(reply.n, "group");
  const heading = !reply.total.n_said ? `${n} before any answer` : isDone ? `Done: ${n}` : `${n} so far`;
  const answers = plural(progress.answered, "answer");
  const unsureTimes = progress.unsure ? `, and were not sure ${progress.unsure === 1 ? "once" : `${progress.unsure} times`}` : "";
  // A model and other people may have given some of them.
  const ofSeveral = `In all there are ${answers}${progress.unsure ? `, and ${progress.unsure} not sure` : ""}`;
  const given = model || app.state.you ? ofSeveral : `You gave ${answers}${unsureTimes}`;
  const doubtful = mostInDoubt(reply.groups);
  const cards = el("ul", { class: "groups" }, reply.groups.map(card));
  roving(cards, ".tiles");
  const unsure = el("div", { id: "unsure" });
  fill(byId("view-result"),
    el("div", { class: "result-words" },
      el("div", { class: "result-lines" }, el("h1", { id: "result-title" }, heading), qualityLines(outlook)),
      curve(completeness),
      el("p", { class: "hint" }, `${plural(reply.total.size, "item")}: ${knownLine(reply.total)}. ${given}.`),
      aboutModel(model),
      knownBar(reply.total), el("p", { class: "hint" }, seenLine(app.state)), betterLine()),
    el("div", { class: "line" }, goOn(app.state), doubtful && button("Check the least certain", () => openCheck(doubtful.id)), button("Find items", () => openFind()), progress.answered > 0 && button("Check yourself", openChecks), downloads(ways.formats),
      button(["Undo ", el("kbd", {}, "Z")], undo, { class: "quiet", disabled: !canUndo })),
    howLegend(),
    cards,
    moreButton(cards, reply.n, "Show more groups", async (at) => (await look(`groups?limit=${PAGE}&offset=${at}`))?.groups.map(card)),
    unsure);
  showUnsure(unsure);
}

/** How good the groups are; what more would bring. @param {State["outlook"]} outlook */
function qualityLines({ quality, more, can_stop: canStop }) {
  const words = [[canStop && "you can stop here", quality].filter(Boolean).join(" · "), more].filter(Boolean);
  return words.map((line, k) => el("p", { class: k ? "hint" : "quality" }, capital(line)));
}

/** The main button while more questions help. When COBRA is done, there may be doubt left within its super-instances. @param {State} state */
function goOn({ is_done: isDone, outlook }) {
  const look = outlook.can_stop ? "plain" : "primary";
  if (!isDone) return el("a", { href: "#ask", class: look }, "Continue with the questions");
  const go = button("Continue where doubt remains", async () => {
    go.disabled = true;
    const next = await changeInTurn("rebuild");
    go.disabled = false;
    if (!next) return;
    await take(next);
    location.hash = next.is_done ? "#result" : "#ask";
  }, { class: look });
  return outlook.can_rebuild && go;
}

function card(/** @type {Group} */ group) {
  const label = el("span", { class: "unseen" });
  const named = () => (label.textContent = `All ${plural(group.size, "member")} of ${groupName(group)}: `);
  named();
  return el("li", { class: "group" },
    el("div", { class: "named" }, keyMark(group), nameField(group, named)),
    button([label, group.typical.map(knownTile)], () => openGroup(group.id), { class: "tiles", title: "All members" }),
    knownBar(group),
    el("p", { class: "hint" }, `${plural(group.size, "item")}: ${knownLine(group)}`),
    group.name && group.summary && el("p", { class: "hint", dir: "auto" }, group.summary));
}

/** One main download; the others are in a menu. @param {Format[]} formats */
function downloads([main, ...others]) {
  /** @type {(format: Format, look: string, words?: string) => Node} */
  const link = ({ format, title }, look, words = title) => el("a", { href: `api/export/${format}`, download: "", class: look }, words);
  return el("div", { class: "exports line" }, link(main, app.state.outlook.can_stop ? "primary" : "plain", `Download ${main.title}`),
    el("details", { class: "menu" }, el("summary", { class: "plain" }, "Other formats"), el("ul", {}, others.map((way) => el("li", {}, link(way, "quiet"))))));
}

async function showUnsure(/** @type {HTMLElement} */ box) {
  const reply = await look("unsure");
  if (!reply?.n) return;
  const { n, n_together: together } = reply;
  const [them, They] = n === 1 ? ["it", "It is"] : ["them", "They are"];
  const done = together ? `${together} of ${n} ${together === 1 ? "is" : "are"} in one group all the same: a guess, by how similar the two are.` : `${They} in different groups.`;
  fill(box,
    el("h2", {}, "Still undecided"),
    el("p", { class: "hint" }, `You were not sure about ${plural(n, "pair")}, and no other answer decides ${them}. ${done} Decide now, or leave ${them} as is.`),
    el("ul", { class: "log" }, reply.pairs.map(({ left, right, is_together: isTogether }) =>
      el("li", { class: "open-pair" }, tile(left), tile(right), el("span", { class: "titles cut", dir: "auto" }, `${left.title} – ${right.title}`),
        el("span", { class: "hint" }, isTogether ? "in one group" : "in different groups"),
        /** @type {const} */ (["same", "different"]).map((word) => button(signed(word), () => carryOut("settle", { left: left.row, right: right.row, answer: word })))))));
}
