// The question: two items, three answers, one line of progress, the groups beside it.

import { app, carryOut, changeInTurn, complain, fetchProgress, look, onState, underWay } from "./app.js";
import { get } from "./api.js";
import { inOrder, showChoice } from "./choice.js";
import { button, byId, count, el, every, fill, keyMark, plural } from "./dom.js";
import { openGroup } from "./group.js";
import { showPair } from "./pair.js";
import { distances, pairsOnly } from "./settings.js";
import { curve, fetchPicture, knownBar, knownLine, knownTile, smallOf } from "./things.js";

const STRIP = 12;
/** @type {AbortController | null} */
let looking = null;
let sizes = new Map();
// For people who prefer pairs, a choice is shown as pairs, one group after the other; the answer is the same.
let turn = 0;
// When the open question was shown.
let shownAt = 0;

export async function answer(/** @type {Word | "none"} */ word) {
  const question = app.state?.question;
  if (!question) return;
  if (question.kind === "pair") {
    if (word !== "none") await say({ answer: word });
  } else if (word === "unsure" || word === "none") await say({ chosen: word === "none" ? null : word });
  else if (!pairsOnly.isOn) return;
  else if (word === "same") await say({ chosen: inOrder(question.groups)[turn].place });
  else if (turn + 1 === question.groups.length) await say({ chosen: null });
  else turnTo(turn + 1);
}

function turnTo(/** @type {number} */ place) {
  turn = place;
  showQuestion(app.state).catch(complain);
}

/** The group at a place is the one; places count from 0. @param {number} place */
const choose = (place) => say({ chosen: place });

/** @returns {Option[]} */
const shownGroups = () => (app.state?.question?.kind === "choice" && !pairsOnly.isOn ? app.state.question.groups : []);
export const groupKeys = () => shownGroups().map(({ key }) => key);
export const chooseKey = (/** @type {string} */ key) => choose(shownGroups().findIndex((group) => group.key === key));

async function say(/** @type {Record<string, unknown>} */ said) {
  const seconds = Number(((performance.now() - shownAt) / 1000).toFixed(2));
  document.body.classList.add("pending");
  await carryOut("answer", { question: app.state.question?.number, seconds, distance: distances.isOn, ...said });
  document.body.classList.remove("pending");
}

export const undo = () => (turn > 0 ? turnTo(turn - 1) : app.state?.can_undo && carryOut("undo"));
export const redo = () => app.state?.can_redo && carryOut("redo");

onState((state) => {
  byId("undo").disabled = !state.can_undo;
  byId("redo").disabled = !state.can_redo;
  showProgress(state);
  looking?.abort();
  looking = new AbortController();
  turn = 0;
  if (document.activeElement !== byId("instruction")) byId("instruction").value = state.instruction;
  const shown = showQuestion(state);
  lookAhead(state, shown, looking.signal).catch(complain);
  return shown;
});

/** One of the groups of a choice and the item, as a pair. @type {(question: Choice) => Promise<Pair | null>} */
async function asPair({ item, groups, number }) {
  const place = turn;
  const { shown: [typical, ...others], key } = inOrder(groups)[place];
  const reply = await look(`item/${typical.row}`);
  if (!reply || number !== app.state.question?.number || place !== turn) return null;
  return { kind: "pair", number, left: item, right: reply.item, fellows: [[], others], turn: `group ${key.toUpperCase()}, ${place + 1} of ${groups.length}` };
}

async function showQuestion(/** @type {State} */ state) {
  const question = state.question?.kind === "choice" && pairsOnly.isOn ? await asPair(state.question) : state.question;
  if (!question) return;
  const isChoice = question.kind === "choice";
  // A new question begins at its top.
  byId("main").scrollTop = 0;
  byId("ask-title").textContent = isChoice ? "Where does it belong?" : "Do these two belong together?";
  const far = question.distance;
  byId("why").textContent = [typeof far === "number" && `${Number(far.toPrecision(3))} apart`, question.turn].filter(Boolean).join(" · ");
  for (const way of every("#view-ask .answer")) {
    way.hidden = way.dataset.answer !== "unsure" && (way.dataset.answer === "none") !== isChoice;
  }
  if (isChoice) showChoice(byId("pair"), byId("tools"), question, choose);
  else showPair(byId("pair"), byId("tools"), question.left, question.right, question.fellows);
  nameOptions();
  const words = isChoice ? `To which of ${plural(question.groups.length, "group")} does ${question.item.title} belong?` : `${question.left.title}, and ${question.right.title}.`;
  byId("live").textContent = `Question ${question.number}. ${words}`;
  if (turn === 0) shownAt = performance.now();
}

function showProgress(/** @type {State} */ { progress: p, outlook, completeness, is_done: isDone }) {
  byId("progress").textContent = outlook.line;
  byId("progress").classList.toggle("can-stop", outlook.can_stop);
  fill(byId("curve"), curve(completeness));
  byId("counts").textContent = `${plural(p.answered, "answer")}${p.unsure ? `, ${p.unsure} not sure` : ""} · ${plural(p.n_groups, "group")}${p.answered ? " now" : " before any answer"}`;
  // Where nobody knows how many questions are left, the bar is how much is surely right.
  const share = p.estimate === null ? completeness?.at_least ?? 0 : p.answered / Math.max(1, p.answered + p.estimate);
  byId("bar").style.width = `${(isDone ? 100 : share * 100).toFixed(1)}%`;
}

/** After the question is there with its pictures: fetch how far the session is, what may come next, then the groups.
 * @type {(state: State, shown: Promise<void>, signal: AbortSignal) => Promise<void>} */
async function lookAhead(state, shown, signal) {
  if (state.question) {
    await underWay(async () => {
      await shown;
      await Promise.allSettled(every("#pair img").map((image) => image.decode()));
      showProgress(await fetchProgress(state, signal));
    });
    const { next } = await get("ahead", signal);
    for (const question of Object.values(next)) if (question) fetchPictures(question);
  }
  await refreshStrip(signal);
  // The map of many pictures takes a while to lay out, so that is done before somebody wants it.
  if (!isMapReady && state.has_map) await get("map?prepare=1", signal);
  isMapReady = true;
}

let isMapReady = false;

function fetchPictures(/** @type {Question} */ question) {
  const [large, small] = question.kind === "pair" ? [[question.left, question.right], question.fellows.flat()] : [[question.item], question.groups.flatMap((group) => group.shown)];
  for (const { image } of large) if (image) fetchPicture(image);
  for (const { image } of small) if (image) fetchPicture(smallOf(image));
}

// Groups without a name are called by their summary, as it was when the groups were last fetched.
let abouts = new Map();

function nameOptions() {
  for (const words of every("#pair .option-about")) words.textContent = abouts.get(words.dataset.group) ?? "";
}

/** @param {AbortSignal} [signal] */
export async function refreshStrip(signal) {
  const { groups, n } = await get(`groups?limit=${STRIP}`, signal);
  abouts = new Map(groups.map((group) => [String(group.id), group.name ? "" : group.summary]));
  nameOptions();
  const before = sizes;
  sizes = new Map(groups.map((group) => [group.id, group.size]));
  fill(byId("strip"), groups.map((group) => el("li", { class: before.get(group.id) < group.size ? "grew" : "" }, button([
    el("span", { class: "tiles" }, group.typical.slice(0, 3).map(knownTile)),
    knownBar(group),
    el("span", { class: "about cut" }, keyMark(group), " ", group.name && [el("b", { dir: "auto" }, group.name), " · "], plural(group.size, "item"), el("span", { class: "unseen" }, `: ${knownLine(group)}`)),
  ], () => openGroup(group.id), { class: "card", title: "All members" }))),
  n > groups.length && el("li", { class: "more" }, el("a", { href: "#result" }, `and ${count(n - groups.length)} more`)));
}

export function startAsking() {
  for (const way of every(".answer[data-answer]")) way.addEventListener("click", () => answer(way.dataset.answer));
  const words = byId("instruction");
  words.addEventListener("change", async () => Object.assign(app.state, await changeInTurn("instruction", { instruction: words.value })));
  words.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && words.blur());
  byId("undo").addEventListener("click", undo);
  byId("redo").addEventListener("click", redo);
  swipe(byId("pair"));
}

function swipe(/** @type {HTMLElement} */ box) {
  /** @type {number[] | null} */
  let start = null;
  box.addEventListener("touchstart", ({ touches: [one, ...others] }) => (start = others.length || box.classList.contains("zoomed") ? null : [one.clientX, one.clientY]), { passive: true });
  box.addEventListener("touchend", ({ touches, changedTouches: [end] }) => {
    if (!start || touches.length) return;
    const [dx, dy] = [end.clientX - start[0], end.clientY - start[1]];
    start = null;
    if (Math.abs(dx) > 70 && Math.abs(dx) > 2 * Math.abs(dy)) answer(dx > 0 ? "same" : "different");
  }, { passive: true });
}
