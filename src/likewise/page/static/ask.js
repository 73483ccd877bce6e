// The question: two items, three answers, one line of progress, the groups below.

import { app, carryOut, change, changeInTurn, complain, fetchProgress, look, onState, take, underWay } from "./app.js";
import { get } from "./api.js";
import { inOrder, showChoice } from "./choice.js";
import { announce, button, byId, el, every, keyMark, plural } from "./dom.js";
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
export async function choose(place) {
  const question = app.state?.question;
  if (question?.kind === "choice" && !pairsOnly.isOn) await say({ chosen: place });
}

/** @returns {Option[]} */
const shownGroups = () => (app.state?.question?.kind === "choice" && !pairsOnly.isOn ? app.state.question.groups : []);
export const groupKeys = () => shownGroups().map(({ key }) => key);
export const chooseKey = (/** @type {string} */ key) => choose(shownGroups().findIndex((group) => group.key === key));

async function say(/** @type {Record<string, unknown>} */ said) {
  const seconds = Number(((performance.now() - shownAt) / 1000).toFixed(2));
  const body = { question: app.state.question?.number, seconds, distance: distances.isOn, ...said };
  document.body.classList.add("pending");
  const state = await change("answer", body);
  document.body.classList.remove("pending");
  if (state) await take(state);
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
  const shown = state.question ? showQuestion(state) : null;
  lookAhead(state, shown, looking.signal).catch(complain);
  return shown;
});

/** One of the groups of a choice and the item, as a pair. @type {(question: Choice) => Promise<Pair | null>} */
async function asPair({ item, groups, number }) {
  const place = turn;
  const { shown: [first, ...others], key } = inOrder(groups)[place];
  const found = await look(`item/${first.row}`);
  if (!found || number !== app.state.question?.number || place !== turn) return null;
  return { kind: "pair", number, left: item, right: found.item, fellows: [[], others], turn: `group ${key.toUpperCase()}, ${place + 1} of ${groups.length}` };
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
  if (isChoice) {
    showChoice(byId("pair"), byId("tools"), question, choose);
    nameOptions();
    announce(`Question ${question.number}. To which of ${plural(question.groups.length, "group")} does ${question.item.title} belong?`);
  } else {
    const { left, right } = question;
    showPair(byId("pair"), byId("tools"), left, right, question.fellows);
    announce(`Question ${question.number}. ${left.title}, and ${right.title}.`);
  }
  if (turn === 0) shownAt = performance.now();
}

function showProgress(/** @type {State} */ state) {
  const p = state.progress;
  byId("progress").textContent = state.outlook.line;
  byId("progress").classList.toggle("can-stop", state.outlook.can_stop);
  byId("curve").replaceChildren(curve(state.completeness));
  byId("counts").textContent = `${plural(p.answered, "answer")}${p.unsure ? `, ${p.unsure} not sure` : ""} · ${plural(p.n_groups, "group")}${p.answered ? " now" : " before any answer"}`;
  // Where nobody knows how many questions are left, the bar is how much is surely right.
  const share = p.estimate === null ? state.completeness?.at_least ?? 0 : p.answered / Math.max(1, p.answered + p.estimate);
  byId("bar").style.width = `${(state.is_done ? 100 : share * 100).toFixed(1)}%`;
}

/** After the question is there with its pictures: fetch how far the session is, what may come next, then the groups.
 * @type {(state: State, shown: Promise<void> | null, signal: AbortSignal) => Promise<void>} */
async function lookAhead(state, shown, signal) {
  if (state.question) {
    underWay(1);
    try {
      await shown;
      await Promise.allSettled([...every("#pair img")].map((image) => image.decode()));
      showProgress(await fetchProgress(state, signal));
    } finally {
      underWay(-1);
    }
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

function showStrip(/** @type {Reply<"groups">} */ { groups, n }) {
  abouts = new Map(groups.map((group) => [String(group.id), group.name ? "" : group.summary]));
  nameOptions();
  const before = sizes;
  sizes = new Map(groups.map((group) => [group.id, group.size]));
  const cards = groups.map((group) => {
    const grew = before.has(group.id) && before.get(group.id) < group.size;
    return el("li", { class: grew ? "grew" : "" },
      button([
        el("span", { class: "tiles" }, ...group.typical.slice(0, 3).map((thing) => knownTile(thing))),
        knownBar(group),
        el("span", { class: "about" }, keyMark(group), " ", el("b", { dir: "auto" }, group.name || ""), group.name ? " · " : "", plural(group.size, "item"), el("span", { class: "unseen" }, `: ${knownLine(group)}`)),
      ], () => openGroup(group.id), { class: "card", title: "All members" }));
  });
  if (n > groups.length) cards.push(el("li", { class: "more" }, el("a", { href: "#result" }, `and ${(n - groups.length).toLocaleString("en")} more`)));
  byId("strip").replaceChildren(...cards);
}

/** @param {AbortSignal} [signal] */
export async function refreshStrip(signal) {
  showStrip(await get(`groups?limit=${STRIP}`, signal));
}

export function startAsking() {
  for (const way of every(".answer[data-answer]")) {
    way.addEventListener("click", () => answer(way.dataset.answer));
  }
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
  box.addEventListener("touchstart", (event) => {
    const isOne = event.touches.length === 1 && !box.classList.contains("zoomed");
    start = isOne ? [event.touches[0].clientX, event.touches[0].clientY] : null;
  }, { passive: true });
  box.addEventListener("touchend", (event) => {
    if (!start || event.touches.length) return;
    const [dx, dy] = [event.changedTouches[0].clientX - start[0], event.changedTouches[0].clientY - start[1]];
    start = null;
    if (Math.abs(dx) > 70 && Math.abs(dx) > 2 * Math.abs(dy)) answer(dx > 0 ? "same" : "different");
  }, { passive: true });
}
