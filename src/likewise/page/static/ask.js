// The question: an item and all groups, or two items; one line of progress; what may be merged.

import { app, carryOut, changeInTurn, complain, fetchProgress, look, onState, underWay } from "./app.js";
import { get } from "./api.js";
import { inOrder, showChoice, startFinding } from "./choice.js";
import { button, byId, capital, count, el, every, fill, keyMark, plural } from "./dom.js";
import { openGroup } from "./group.js";
import { showMerge } from "./merge.js";
import { aboutModel } from "./model.js";
import { showPair } from "./pair.js";
import { startPreviews } from "./preview.js";
import { seenBox, seenLine } from "./seen.js";
import { distances, pairsOnly } from "./settings.js";
import { curve, fetchPicture, knownLine, middleOf, smallOf, tile } from "./things.js";

const STRIP = 12;
/** @type {AbortController | null} */
let looking = null;
let sizes = new Map();
// For people who prefer pairs, a choice is shown as pairs, one group after the other; the answer is the same.
let turn = 0;
// When the open question was shown.
let shownAt = 0;
/** The places of several groups that are chosen together, so that they become one. @type {Set<number>} */
let several = new Set();

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

/** The group at a place is the one, or one of several; places count from 0. @type {(place: number, isOneOfSeveral?: boolean) => unknown} */
function choose(place, isOneOfSeveral = false) {
  if (!isOneOfSeveral) return say({ chosen: several.size ? [...several.add(place)] : place });
  if (!several.delete(place)) several.add(place);
  return showSeveral();
}

function showSeveral() {
  for (const one of every("#stage [data-place]:not(td)")) one.ariaPressed = several.size ? String(several.has(Number(one.dataset.place))) : null;
  const done = byId("several");
  done.hidden = !several.size;
  fill(done, several.size > 1 ? `It belongs to these ${several.size}, which are one ` : "Choose another one, too ", el("kbd", {}, "Enter"));
  done.disabled = several.size < 2;
}

export const chooseSeveral = () => several.size > 1 && say({ chosen: [...several] });

/** Returns whether there were any. */
export function forgetSeveral() {
  const wereThere = several.size > 0;
  several = new Set();
  showSeveral();
  return wereThere;
}

/** @returns {Option[]} */
const shownGroups = () => (app.state?.question?.kind === "choice" && !pairsOnly.isOn ? app.state.question.groups : []);
export const groupKeys = () => shownGroups().map(({ key }) => key).filter(Boolean);
/** @type {(key: string, isOneOfSeveral?: boolean) => unknown} */
export const chooseKey = (key, isOneOfSeveral) => choose(shownGroups().findIndex((group) => group.key === key), isOneOfSeveral);

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
  byId("main").scrollTop = byId("stage").scrollTop = 0;
  byId("view-ask").className = isChoice ? "asks-choice" : "asks-pair";
  byId("ask-title").textContent = isChoice ? "Where does it belong?" : "Do these two belong together?";
  const far = question.distance;
  byId("why").textContent = [typeof far === "number" && `${Number(far.toPrecision(3))} apart`, question.turn].filter(Boolean).join(" · ");
  for (const way of every("#view-ask [data-answer]")) way.hidden = isChoice !== (way.dataset.answer === "none" || way.id === "not-sure");
  byId("welcome").hidden = state.progress.answered > 0;
  byId("strip-box").hidden = isChoice || !byId("welcome").hidden;
  forgetSeveral();
  if (isChoice) showChoice(byId("pair"), byId("tools"), question, choose);
  else {
    byId("others-box").hidden = true;
    showPair(byId("pair"), byId("tools"), question.left, question.right, question.fellows);
  }
  showMerge(state);
  showAbouts(state);
  const words = isChoice ? `To which of ${plural(question.groups.length, "group")} does ${question.item.title} belong?` : `${question.left.title}, and ${question.right.title}.`;
  byId("live").textContent = `Question ${question.number}. ${words}`;
  if (turn === 0) shownAt = performance.now();
}

export function showProgress(/** @type {State} */ state) {
  const { progress: p, outlook, completeness, model, is_done: isDone } = state;
  const { quality, more, can_stop: canStop } = outlook;
  // While it is too early to say, what is known instead has less weight.
  const [said, ...instead] = quality.split("; ");
  const words = [canStop && "You can stop here", said || (canStop ? "" : more)].filter(Boolean).join(" · ");
  byId("progress").textContent = [model?.warning, capital(words)].filter(Boolean).join(" · ");
  byId("progress").classList.toggle("can-stop", canStop);
  const counts = `${plural(p.answered, "answer")}${p.unsure ? `, ${p.unsure} not sure` : ""}`;
  // Each is there as a whole or, where there is no room, not at all.
  fill(byId("counts"), [model?.line, ...instead, counts, seenLine(state)].filter(Boolean).map((one) => el("span", { class: "piece" }, one)));
  fill(byId("more-about"),
    aboutModel(model),
    el("p", {}, `${plural(p.n_groups, "group")} ${p.answered ? `after ${counts}` : "before any answer"}. `, [...instead, more].map((one) => one && `${capital(one)}. `)),
    curve(completeness), seenBox(state));
  // Where nobody knows how many questions are left, the bar is how much is surely right, once that is said.
  const surely = outlook.quality.includes("%") ? completeness?.at_least ?? 0 : 0;
  const share = p.estimate === null ? surely : p.answered / Math.max(1, p.answered + p.estimate);
  byId("bar").style.width = `${(isDone ? 100 : share * 100).toFixed(1)}%`;
}

/** After the question is there with its pictures: fetch how far the session is, then what may come next.
 * @type {(state: State, shown: Promise<void>, signal: AbortSignal) => Promise<void>} */
async function lookAhead(state, shown, signal) {
  if (state.question) {
    await underWay(async () => {
      await shown;
      await Promise.allSettled(every("#pair img").map((image) => image.decode()));
      showProgress(await fetchProgress(state, signal));
      showMerge(state);
      showAbouts(state);
    });
    if (hasPictures(state.question)) {
      const { next } = await get("ahead", signal);
      for (const question of Object.values(next)) if (question) fetchPictures(question);
    }
  }
  if (!byId("strip-box").hidden) await refreshStrip(signal);
  // The map of many pictures takes a while to lay out, so that is done before somebody wants it.
  if (!isMapReady && state.has_map) await get("map?prepare=1", signal);
  isMapReady = true;
}

let isMapReady = false;

const hasPictures = (/** @type {Question} */ question) => Boolean((question.kind === "pair" ? question.left : question.item).image);

function fetchPictures(/** @type {Question} */ question) {
  if (question.kind === "pair") {
    for (const { image } of [question.left, question.right]) if (image) fetchPicture(image);
    return;
  }
  if (question.item.image) fetchPicture(question.item.image);
  for (const { shown: [cover, ...others] } of question.groups.slice(0, question.n_large)) {
    if (cover?.image) fetchPicture(middleOf(cover.image));
    for (const { image } of others) if (image) fetchPicture(smallOf(image));
  }
}

/** Groups without a name are called by what distinguishes them, which comes after the question. @param {State} state */
function showAbouts({ abouts = {} }) {
  /** Unless that is all of the card, as with a short name. @type {(card: any, about: string | undefined) => boolean} */
  const isNew = (card, about) => Boolean(about) && card.querySelector(".passage, .small-words")?.textContent !== about;
  for (const words of every("#stage .option-about")) {
    const about = abouts[words.dataset.group];
    words.dataset.about = about ?? "";
    if (!words.textContent && isNew(words.closest("[data-group]:not(.option-about)"), about)) words.textContent = about;
  }
  for (const field of every("#stage .option-name")) {
    const about = abouts[field.dataset.group];
    field.dataset.about = about ?? "";
    if (isNew(field.parentElement, about)) field.placeholder = `${about} ?`;
  }
}

/** A name is the same wherever the group is shown. */
document.addEventListener("named", (/** @type {any} */ { detail: group }) => {
  if (!group) return;
  const own = app.state.question?.kind === "choice" && app.state.question.groups.find((one) => one.group === group.group);
  if (own) own.name = group.name;
});

/** @param {AbortSignal} [signal] */
export async function refreshStrip(signal) {
  const { groups, n } = await get(`groups?limit=${STRIP}`, signal);
  const before = sizes;
  sizes = new Map(groups.map((group) => [group.id, group.size]));
  fill(byId("strip"), groups.map((group) => el("li", { class: before.get(group.id) < group.size ? "grew" : "" }, button([
    keyMark(group), el("span", { class: "tiles" }, group.typical.slice(0, 2).map((thing) => tile(thing))),
    el("span", { class: "about cut" }, group.name && [el("b", { dir: "auto" }, group.name), " · "], plural(group.size, "item"), el("span", { class: "unseen" }, `: ${knownLine(group)}`)),
  ], () => openGroup(group.id), { class: "card", title: "All members" }))),
  n > groups.length && el("li", { class: "more" }, el("a", { href: "#result" }, `and ${count(n - groups.length)} more`)));
}

export function startAsking() {
  for (const way of every("#view-ask [data-answer]")) way.addEventListener("click", () => answer(way.dataset.answer));
  byId("several").addEventListener("click", chooseSeveral);
  startFinding();
  startPreviews(byId("stage"));
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
