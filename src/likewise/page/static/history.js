// Every answer with its two items. A click changes it, after saying what that keeps and drops.

import { carryOut, change, look } from "./app.js";
import { button, byId, el, fill, moreButton, plural, sign, signed, WORDS } from "./dom.js";
import { inOrder } from "./choice.js";
import { groupLine, tile } from "./things.js";

const PAGE = 100;
const WAYS = /** @type {const} */ (["same", "different", "unsure"]);

/** The answer with a number is shown opened, if one is `wanted`. @param {number} wanted */
export async function showHistory(wanted) {
  const reply = await look(`history?limit=${PAGE}${wanted ? `&before=${wanted + 11}` : ""}`);
  if (!reply) return;
  const list = el("ol", { class: "log" }, reply.events.map(entry));
  const latest = reply.events[0]?.number ?? 0;
  fill(byId("view-history"),
    el("h1", { id: "history-title" }, "What you answered"),
    el("p", { class: "hint" }, reply.n ? `${plural(reply.n, "answer")}, the latest first. Click one to change it; you will see the effect before it is applied.` : "No answers yet."),
    list,
    moreButton(list, latest, "Earlier answers", async (at) => (await look(`history?limit=${PAGE}&before=${latest + 1 - at}`))?.events.map(entry)));
  list.querySelector(`[data-number="${wanted}"] summary`)?.click();
}

function entry(/** @type {Entry} */ event) {
  const panel = el("div", { class: "revise" });
  const line = el("summary", { class: "event" },
    el("span", { class: "number" }, `${event.number}`), tile(event.left), saidOf(event),
    el("span", { class: "titles cut", dir: "auto" }, event.left.spark && !event.groups.length && `${event.left.title} – ${event.right.title}`, el("i", {}, kind(event))));
  return el("li", { "data-number": event.number }, el("details", { on: { toggle: () => offer(event, panel) } }, line, panel));
}

/** “= 3 (its picture, its name)”, or for a pair the other item. @param {Entry} event */
function saidOf(event) {
  const isNone = event.groups.length > 0 && event.answer === "different";
  return [el("span", { class: `said ${event.answer}` }, isNone ? [sign("different"), " none of these"] : signed(event.answer)),
    event.groups.length ? event.groups.filter((_, place) => isChosen(event, place)).map(groupLine) : tile(event.right)];
}

/** Several things said at once show the first, and how many there are. @param {Entry} event */
function kind({ groups, links, source }) {
  const more = links.length > 1 ? `and ${links.length - 1} more at once` : "";
  const why = /** @type {Record<string, string>} */ ({ mended: "a group was mended", given: "given beforehand" })[source];
  return groups.length ? "" : [more, why].filter(Boolean).join(": ");
}

/** @type {(event: Entry, panel: HTMLElement) => void} */
function offer(event, panel) {
  if (event.source === "mended" && event.links.length > 1) fill(panel, el("p", {}, "This was said about several items at once. Mend the group again to change it, or undo back to here."));
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
  const apply = button("Apply", () => carryOut("revise", { number: event.number, ...said, apply: true }), { class: "primary" });
  fill(panel,
    el("p", { class: "words", role: "status" }, `This ${words}.`),
    dropped.length > 0 && el("ul", { class: "dropped" }, dropped.map((/** @type {Entry} */ e) => el("li", { dir: "auto" }, `${e.number}: ${e.left.title} `, sign(e.answer), el("span", { class: "unseen" }, WORDS[e.answer]), ` ${e.right.title}`))),
    apply, button("Cancel", () => offer(event, panel)));
  apply.focus();
}
