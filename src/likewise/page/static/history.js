// Every answer with its two items. A click changes it, after saying what that keeps and drops.

import { carryOut, change, look } from "./app.js";
import { button, byId, el, moreButton, plural, sign, signed, WORDS } from "./dom.js";
import { inOrder } from "./choice.js";
import { groupLine, tile } from "./things.js";

const PAGE = 100;
const WAYS = /** @type {const} */ (["same", "different", "unsure"]);

/** @param {number} [wanted] */
export async function showHistory(wanted) {
  const view = byId("view-history");
  const found = await look(`history?limit=${PAGE}${wanted ? `&before=${wanted + 11}` : ""}`);
  if (!found) return;
  const list = el("ol", { class: "log" }, ...found.events.map(entry));
  const latest = found.events[0]?.number ?? 0;
  view.replaceChildren(
    el("h1", { id: "history-title" }, "What you answered"),
    el("p", { class: "hint" }, found.n ? `${plural(found.n, "answer")}, the latest first. Click one to change it; you will see what that does before it is done.` : "Nothing yet."),
    list,
    ...moreButton(list, latest, () => "Earlier ones",
      async (at) => (await look(`history?limit=${PAGE}&before=${latest + 1 - at}`))?.events.map(entry)));
  if (wanted) list.querySelector(`[data-number="${wanted}"] button`)?.click();
}

function entry(/** @type {Entry} */ event) {
  const panel = el("div", { class: "revise", hidden: true });
  const line = button([
    el("span", { class: "number" }, `${event.number}`),
    tile(event.left),
    ...saidOf(event),
    el("span", { class: "titles", dir: "auto" }, event.left.spark && !event.groups.length ? `${event.left.title} – ${event.right.title}` : "", el("i", {}, kind(event))),
  ], () => {
    panel.hidden = !panel.hidden;
    line.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) offer(event, panel);
  }, { class: "event", "aria-expanded": "false" });
  return el("li", { "data-number": event.number }, line, panel);
}

/** “= 3 (its picture, its name)”, or for a pair the other item. @param {Entry} event */
function saidOf(event) {
  const chosen = event.groups.filter((_, place) => isChosen(event, place));
  const words = event.groups.length && event.answer === "different" ? "none of these" : null;
  const said = el("span", { class: `said ${event.answer}` }, ...(words ? [sign(event.answer), ` ${words}`] : signed(event.answer)));
  return event.groups.length ? [said, ...chosen.map((group) => groupLine(group))] : [said, tile(event.right)];
}

/** Several things said at once show the first, and how many there are. @param {Entry} event */
function kind(event) {
  if (event.groups.length) return "";
  const more = event.links.length > 1 ? ` and ${event.links.length - 1} more at once` : "";
  if (event.source === "mended") return `${more}: a group was mended`;
  return event.source === "given" ? `${more} carried over or given` : more;
}

/** @type {(event: Entry, panel: HTMLElement) => void} */
function offer(event, panel) {
  if (event.source === "mended" && event.links.length > 1) panel.replaceChildren(el("p", {}, "This was said about several items at once. Mend the group again to change it, or undo back to here."));
  else panel.replaceChildren(el("p", {}, "Change it to"), ...choices(event, panel));
}

/** @type {(event: Entry, place: number) => boolean} */
const isChosen = (event, place) => event.answer === "same" && event.groups[place].shown.some(({ row }) => row === event.right.row);

/** What can be said instead, as the API takes it. @type {(event: Entry, panel: HTMLElement) => Node[]} */
function choices(event, panel) {
  const ways = event.groups.length
    ? [...inOrder(event.groups).filter(({ place }) => !isChosen(event, place)).map((group) => [groupLine(group), { chosen: group.place }]),
      ...(event.answer === "different" ? [] : [["none of these", { chosen: null }]]), ...(event.answer === "unsure" ? [] : [[signed("unsure"), { chosen: "unsure" }]])]
    : WAYS.filter((word) => word !== event.answer).map((word) => [signed(word), { answer: word }]);
  return ways.map(([words, said]) => button(words, () => preview(event, said, panel), { dir: "auto" }));
}

/** @type {(event: Entry, said: Record<string, unknown>, panel: HTMLElement) => Promise<void>} */
async function preview(event, said, panel) {
  const reply = await change("revise", { number: event.number, ...said });
  if (!reply) return;
  const apply = button("Apply", () => carryOut("revise", { number: event.number, ...said, apply: true }), { class: "primary" });
  const dropped = reply.preview.dropped;
  panel.replaceChildren(
    el("p", { class: "words", role: "status" }, `This ${reply.preview.words}.`),
    dropped.length ? el("ul", { class: "dropped" }, ...dropped.map((/** @type {Entry} */ e) => el("li", { dir: "auto" }, `${e.number}: ${e.left.title} `, sign(e.answer), el("span", { class: "unseen" }, WORDS[e.answer]), ` ${e.right.title}`))) : "",
    apply, button("Leave it", () => offer(event, panel)));
  apply.focus();
}
