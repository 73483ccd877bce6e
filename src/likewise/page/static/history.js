// Every answer in words and pictures. A click changes it, after saying what that keeps and drops.

import { app, carryOut, change, look } from "./app.js";
import { button, byId, el, fill, keyMark, moreButton, plural, sign, signed, WORDS } from "./dom.js";
import { roving } from "./grids.js";
import { inOrder } from "./choice.js";
import { agreementOf } from "./people.js";
import { groupLine, tile } from "./things.js";

const PAGE = 100;
const WAYS = /** @type {const} */ (["same", "different", "unsure"]);

/** The answer with a number is shown opened, if one is `wanted`. @param {number} wanted */
export async function showHistory(wanted) {
  const [reply, agreement] = await Promise.all([look(`history?limit=${PAGE}${wanted ? `&before=${wanted + 11}` : ""}`), look("agreement")]);
  if (!reply || !agreement) return;
  const list = el("ol", { class: "log" }, entries(reply));
  roving(list, "summary");
  const latest = reply.events[0]?.number ?? 0;
  const isOfSeveral = reply.answerers.length > 1 || app.state.you;
  const how = app.state.you?.can_answer === false ? "" : " Click one to change it; you will see the effect before it is applied.";
  fill(byId("view-history"),
    el("h1", { id: "history-title" }, isOfSeveral ? "What was answered" : "What you answered"),
    el("p", { class: "hint" }, reply.n ? `${plural(reply.n, "answer")}, the latest first.${how}` : "No answers yet."),
    reply.answerers.length > 1 && el("p", { class: "line hint" }, "Answered by: ", reply.answerers.map(answerer)),
    agreementOf(agreement),
    list,
    moreButton(list, latest, "Earlier answers", async (at) => {
      const more = await look(`history?limit=${PAGE}&before=${latest + 1 - at}`);
      return more ? entries(more) : [];
    }));
  list.querySelector(`[data-number="${wanted}"] summary`)?.click();
}

/** All that one answerer said can be set aside, and taken back. @param {Answerer} answerer */
function answerer({ by, n, is_aside: isAside }) {
  const words = `${by?.replace(":", " ") ?? "nobody named"}, ${plural(n, "answer")}`;
  const turn = by !== null && button(isAside ? "Take back" : "Set aside", () => carryOut("set-aside", { by, is_aside: !isAside }), { class: "quiet", ariaLabel: `${isAside ? "Take back" : "Set aside"} all that ${by} said`, title: isAside ? "Let these answers count again" : "Let none of these answers count" });
  return el("span", { class: isAside ? "answerer aside" : "answerer", dir: "auto" }, words, turn);
}

/** Each answer, with the checks that were made right after it. @type {(reply: { events: Entry[], checks: Checked[] }) => Node[]} */
const entries = ({ events, checks }) => events.map((event) => entry(event, checks.filter(({ after }) => Math.max(1, after) === event.number)));

/** @type {(event: Entry, checks: Checked[]) => any} */
function entry(event, checks) {
  const panel = el("div", { class: "revise" });
  const line = el("summary", { class: "event" }, el("span", { class: `what ${event.answer}` }, saidOf(event)),
    el("span", { class: "meta hint" }, el("i", { class: "kind" }, kind(event)), signature(event), el("span", {}, `answer ${event.number}`)));
  return el("li", { "data-number": event.number }, checks.map(note), el("details", { on: { toggle: () => offer(event, panel) } }, line, panel));
}

/** Who said it, when and how fast, as far as that is known. @param {{ by: string | null, at: string | null, seconds?: number | null }} event */
function signature({ by, at, seconds }) {
  const time = at ? new Date(at) : null;
  const isToday = time?.toDateString() === new Date().toDateString();
  const shown = time && !Number.isNaN(time.getTime()) && el("time", { dateTime: at, title: time.toLocaleString("en") },
    time.toLocaleString("en", { ...(!isToday && { day: "numeric", month: "short" }), hour: "2-digit", minute: "2-digit", hour12: false }));
  return [by && el("span", { dir: "auto" }, by.replace(":", " ")), shown, seconds != null && el("span", {}, `${Number(seconds.toFixed(1))} s`)];
}

/** A group as it is called now, by one of its items. @param {Option} group */
const named = (group) => el("span", { class: "group-line" }, keyMark(group), group.shown[0] && tile(group.shown[0]), group.name && el("b", { dir: "auto" }, group.name));

const PAIR = { same: "belong together", different: "do not belong together", unsure: "not sure whether they belong together" };

/** An answer as a sentence of pictures and words. @param {Entry} event */
function saidOf(event) {
  const { left, right, answer, groups, links } = event;
  const item = tile(left);
  const said = (/** @type {string} */ words) => el("span", { class: "said" }, words);
  if (!groups.length) return [item, el("span", {}, "and"), tile(right), said(PAIR[answer]), links.length > 1 && el("span", {}, `and ${links.length - 1} more at once`)];
  const chosen = groups.filter((_, place) => isChosen(event, place)).map(named);
  if (answer === "unsure") return [item, said("not sure where it belongs")];
  if (answer === "different") return [item, said(groups.length === 1 ? "does not belong to" : `belongs to none of ${groups.length} groups`), groups.length === 1 && named(groups[0])];
  return [item, said("belongs to"), chosen, chosen.length > 1 && el("span", {}, "which are one group")];
}

const kind = (/** @type {Entry} */ { source }) => /** @type {Record<string, string>} */ ({ mended: "a group was mended", known: "known beforehand" })[source];

/** A check is no answer: it changes no group. @param {Checked} check */
function note(check) {
  const again = check.is_same === null ? "not sure" : check.is_same ? "the same answer" : "another answer";
  const words = check.source === "repeat" ? ["asked again: ", el("b", {}, again)] : ["checked: ", el("b", {}, PAIR[check.answer])];
  return el("p", { class: "event note hint" }, el("span", { class: "what" }, tile(check.left), check.source === "check" && tile(check.right), el("span", {}, words)), el("span", { class: "meta" }, "changes no group", signature(check)));
}

/** @type {(event: Entry, panel: HTMLElement) => void} */
function offer(event, panel) {
  if (!event.groups.length && event.links.length > 1) fill(panel, el("p", {}, "This was said about several items at once. Mend the group to change it."));
  else fill(panel, el("p", {}, "Change it to"), choices(event).map(([words, said]) => button(words, () => preview(event, said, panel), { dir: "auto" })));
}

/** @type {(event: Entry, place: number) => boolean} */
const isChosen = (event, place) => event.answer === "same" && event.groups[place].shown.some(({ row }) => row === event.right.row);

/** What can be said instead, and how the API takes it. @type {(event: Entry) => [any, Record<string, unknown>][]} */
function choices(event) {
  const others = WAYS.filter((word) => word !== event.answer);
  if (!event.groups.length) return others.map((word) => [signed(word), { answer: word }]);
  return [...inOrder(event.groups).filter(({ place }) => !isChosen(event, place)).map((group) => /** @type {[any, any]} */ ([groupLine(group), { chosen: group.place }])),
    ...others.filter((word) => word !== "same").map((word) => /** @type {[any, any]} */ (word === "unsure" ? [signed(word), { chosen: word }] : ["none of these", { chosen: null }]))];
}

/** @type {(event: Entry, said: Record<string, unknown>, panel: HTMLElement) => Promise<void>} */
async function preview(event, said, panel) {
  const reply = await change("revise", { number: event.number, ...said });
  if (!reply) return;
  const { words, dropped } = reply.preview;
  const apply = button("Apply", () => carryOut("revise", { number: event.number, row: event.left.row, by: event.by, ...said, apply: true }), { class: "primary" });
  fill(panel,
    el("p", { class: "words", role: "status" }, `This ${words}.`),
    dropped.length > 0 && el("ul", { class: "dropped" }, dropped.map((/** @type {Entry} */ e) => el("li", { dir: "auto" }, `${e.number}: ${e.left.title} `, sign(e.answer), el("span", { class: "unseen" }, WORDS[e.answer]), ` ${e.right.title}`))),
    apply, button("Cancel", () => offer(event, panel)));
  apply.focus();
}
