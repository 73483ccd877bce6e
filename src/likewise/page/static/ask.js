// The question: two items, three answers, one line of progress, the groups below.

import { app, change, complain, fetchProgress, onState, take } from "./app.js";
import { get } from "./api.js";
import { showChoice } from "./choice.js";
import { announce, byId, el, plural } from "./dom.js";
import { openGroup } from "./group.js";
import { fetchPicture, showPair } from "./pair.js";
import { knownBar, knownLine, knownTile } from "./how.js";
import { groupName, tile } from "./things.js";

const STRIP = 12;
let looking = null;
let sizes = new Map();

export async function answer(word) {
  const question = app.state?.question;
  if (!question) return;
  const isChoice = question.kind === "choice";
  if (isChoice && word !== "unsure" && word !== "none") return;
  await say(isChoice ? { chosen: word === "none" ? null : word } : { answer: word });
}

// The group at a place is the one; places count from 0.
export async function choose(place) {
  const question = app.state?.question;
  if (question?.kind === "choice" && place < question.groups.length) await say({ chosen: place });
}

async function say(said) {
  const body = { question: app.state.question.number, ...said };
  if (app.wantsDistance) body.distance = true;
  document.body.classList.add("pending");
  const state = await change("answer", body);
  document.body.classList.remove("pending");
  if (state) await take(state);
}

export async function undo() {
  if (!app.state?.can_undo) return;
  const state = await change("undo", {});
  if (state) await take(state);
}

export async function redo() {
  if (!app.state?.can_redo) return;
  const state = await change("redo", {});
  if (state) await take(state);
}

onState((state) => {
  byId("undo").disabled = !state.can_undo;
  byId("redo").disabled = !state.can_redo;
  showProgress(state);
  looking?.abort();
  looking = new AbortController();
  if (state.question) showQuestion(state);
  lookAhead(state, looking.signal).catch(complain);
});

function showQuestion(state) {
  const { kind, left, right, item, groups, number } = state.question;
  const isChoice = kind === "choice";
  byId("ask-title").textContent = isChoice ? "Where does it belong?" : "Do these two belong together?";
  byId("why").textContent = why(state);
  for (const button of document.querySelectorAll("#view-ask .answer")) {
    button.hidden = button.dataset.answer !== "unsure" && (button.dataset.answer === "none") !== isChoice;
  }
  byId("fellows").hidden = true;
  if (isChoice) {
    showChoice(byId("pair"), byId("tools"), state.question, choose);
    announce(`Question ${number}. To which of ${plural(groups.length, "group")} does ${item.title} belong?`);
  } else {
    showFellows(state.question.fellows);
    showPair(byId("pair"), byId("tools"), left, right);
    announce(`Question ${number}. ${left.title}, and ${right.title}.`);
  }
}

// Who is with each of the two already, by answers.
function showFellows(sides) {
  byId("fellows").hidden = sides.every((things) => !things.length);
  byId("fellows").replaceChildren(...sides.map((things) =>
    el("p", {}, ...(things.length ? [el("span", { class: "hint" }, "with"), ...things.map((thing) => tile(thing))] : []))));
}

function why(state) {
  const far = state.question.distance;
  return far === undefined || far === null ? `Why these: ${state.why}` : `Why these: ${state.why} · ${Number(far.toPrecision(3))} apart`;
}

function showProgress(state) {
  const p = state.progress;
  byId("progress").textContent = state.outlook.line;
  byId("progress").classList.toggle("can-stop", state.outlook.can_stop);
  byId("counts").textContent = `${plural(p.answered, "answer")}${p.unsure ? `, ${p.unsure} not sure` : ""} · ${plural(p.n_groups, "group")}${p.answered ? " now" : " by a first guess"}`;
  byId("bound").textContent = `So far: ${p.line}.`;
  const share = p.answered / Math.max(1, p.answered + p.estimate);
  byId("bar").style.width = `${(state.is_done ? 100 : share * 100).toFixed(1)}%`;
}

// After the question is painted: fetch how far the session is, what may come next, then the groups.
async function lookAhead(state, signal) {
  if (state.question) {
    showProgress(await fetchProgress(state, signal));
    const { next } = await get("ahead", signal);
    for (const question of Object.values(next)) {
      if (!question) continue;
      for (const item of [question.left, question.right, question.item]) if (item?.image) fetchPicture(item.image);
    }
  }
  const found = await get(`groups?limit=${STRIP}`, signal);
  showStrip(found);
}

function showStrip({ groups, n }) {
  const before = sizes;
  sizes = new Map(groups.map((group) => [group.id, group.size]));
  const cards = groups.map((group) => {
    const grew = before.has(group.id) && before.get(group.id) < group.size;
    return el("li", { class: grew ? "grew" : "" },
      el("button", { type: "button", class: "card", title: "All members", on: { click: () => openGroup(group.id) } },
        el("span", { class: "tiles" }, ...group.typical.slice(0, 3).map((thing) => knownTile(thing))),
        knownBar(group),
        el("span", { class: "about" }, el("b", { dir: "auto" }, group.name || ""), group.name ? " · " : "", plural(group.size, "item"), el("span", { class: "unseen" }, ` ${groupName(group)}: ${knownLine(group)}`))));
  });
  if (n > groups.length) cards.push(el("li", { class: "more" }, el("a", { href: "#result" }, `and ${(n - groups.length).toLocaleString("en")} more`)));
  byId("strip").replaceChildren(...cards);
}

export function refreshStrip() {
  get(`groups?limit=${STRIP}`).then(showStrip).catch(complain);
}

export function startAsking() {
  for (const button of document.querySelectorAll(".answer[data-answer]")) {
    button.addEventListener("click", () => answer(button.dataset.answer));
  }
  byId("undo").addEventListener("click", undo);
  byId("redo").addEventListener("click", redo);
  swipe(byId("pair"));
}

function swipe(box) {
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
