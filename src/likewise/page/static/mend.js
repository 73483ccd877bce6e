// Mending the result: move selected items, merge groups, split one, check one. Each is one thing to undo.

import { carryOut, change, look, notice, openDialog } from "./app.js";
import { button, byId, count, el, fill, keyTyper, plural } from "./dom.js";
import { partsOf } from "./pair.js";
import { groupLine, howWords, knownTile, tile } from "./things.js";

const PAGE = 24;
const dialog = byId("group-dialog");

/** @type {(path: string, body: any, words: string) => Promise<State | null>} */
async function mend(path, body, words) {
  dialog.ariaBusy = "true";
  const state = await carryOut(path, body);
  dialog.ariaBusy = null;
  if (!state) return null;
  const { n_overruled: n, changes } = state;
  notice(`${words}${n > 0 ? `, against ${plural(n, "earlier answer")}` : ""}.${changes.n_following ? ` ${followWords(changes)}` : ""} Undo takes it back.`);
  return state;
}

/** @param {Changes} changes */
const followWords = ({ n_following: n }) => (n ? `${plural(n, "other item")} ${n === 1 ? "follows" : "follow"} from what is learned.` : "No other item changes its group.");

/** What moves more than one item is shown before it is done: how many, and which follow. @type {(path: string, body: any, words: string) => Promise<void>} */
async function mendAndClose(path, body, words) {
  const foreseen = await change(path, { ...body, preview: true });
  if (!foreseen) return;
  /** @type {Changes} */
  const preview = foreseen.preview;
  const apply = async () => (await mend(path, body, words)) && dialog.close();
  if (preview.n <= 1) return void apply();
  const go = button("Apply", apply, { class: "primary" });
  const rest = preview.n_following - preview.following.length;
  dialog.querySelector(".foreseen")?.remove();
  const box = el("div", { class: "foreseen", role: "status" },
    el("p", {}, el("b", {}, `${plural(preview.n, "item")} would change their group.`), ` ${followWords(preview)}`),
    preview.n_following > 0 && el("div", { class: "tiles" }, preview.following.map((thing) => tile(thing)), rest > 0 && el("span", { class: "hint" }, `and ${count(rest)} more`)),
    go, button("Cancel", () => box.remove()));
  dialog.querySelector("header").after(box);
  go.focus();
}

/** Items that are selected by click, by Space, with Shift from the last one on, or by drawing over them. @type {(thing: Known, ...more: any[]) => Node} */
export function selectable(thing, ...more) {
  const box = el("input", { type: "checkbox", value: thing.row, ariaLabel: `Select ${thing.title}, ${howWords(thing)}` });
  return el("li", { class: thing.is_marked ? "member marked" : "member" },
    el("label", {}, box, knownTile(thing), el("span", { class: "title cut", dir: "auto" }, thing.title), el("span", { class: "hint how-words" }, howWords(thing))),
    el("span", { class: "member-ways" }, button("Enlarge", () => enlarge(thing), { class: "quiet", ariaLabel: `Enlarge ${thing.title}` }), more));
}

/** One item as large as there is room, over everything else. @param {Thing} thing */
export async function enlarge({ row }) {
  const reply = await look(`item/${row}`);
  if (!reply) return;
  const { item, group } = reply;
  openDialog("item", el("h2", { id: "item-title", dir: "auto" }, item.heading), el("div", { class: "side" }, partsOf(item)),
    el("p", { class: "hint" }, groupLine(group), " ", howWords(item), item.copies.length > 0 && ` · the same as ${item.copies.join(", ")}`));
}

/** @type {(list: HTMLElement, changed: () => void) => void} */
function watch(list, changed) {
  /** @type {HTMLInputElement | null} */
  let last = null;
  /** @type {any} */
  let drawn = null;
  list.addEventListener("click", (/** @type {any} */ { target: box, shiftKey }) => {
    if (box.type !== "checkbox") return;
    const all = [...list.querySelectorAll("input")];
    const [from, to] = [all.indexOf(shiftKey && last ? last : box), all.indexOf(box)].sort((a, b) => a - b);
    for (const one of all.slice(from, to + 1)) one.checked = box.checked;
    last = box;
    changed();
  });
  // From a selected item on, the selected ones are dragged to a group; from another on, items are selected.
  list.addEventListener("pointerdown", (/** @type {any} */ event) => {
    const item = event.target.closest("li");
    if (item) item.draggable = item.querySelector("input").checked;
    drawn = event.pointerType === "mouse" && !item?.draggable ? item : null;
  });
  list.addEventListener("pointerover", (/** @type {any} */ event) => {
    const item = event.target.closest("li");
    if (event.buttons !== 1 || !drawn || !item || item === drawn) return;
    for (const one of [drawn, item]) one.querySelector("input").checked = true;
    changed();
  });
}

/** @type {(list: HTMLElement, isIt?: boolean) => number[]} */
const selected = (list, isIt = true) => [...list.querySelectorAll("input")].filter((box) => box.checked === isIt).map((box) => Number(box.value));

/** Where items can go: groups by their pictures, each by a click, by its key, or by dropping items on it.
 * @type {(words: string, groups: Group[], pick: (to: any) => unknown, others?: [string, string | null][]) => Node} */
function places(words, groups, pick, others = []) {
  /** @type {[any, any, string?][]} */
  const ways = [...others, ...groups.map((group) => /** @type {[any, any, string]} */ ([groupLine(group), group.id, group.key]))];
  const menu = el("details", { class: "menu" }, el("summary", { class: "plain" }, words), el("ul", { class: "places" }, ways.map(([content, to, key]) => {
    const choose = (/** @type {Event} */ event) => {
      event.preventDefault();
      menu.open = false;
      pick(to);
    };
    return el("li", {}, button(content, choose, { class: "quiet", "data-key": key, on: { click: choose, drop: choose, dragover: (event) => event.preventDefault() } }));
  })));
  return menu;
}

/** Tools for the selected items of a list, and for its group if it is one. @type {(group: Group | undefined, list: HTMLElement) => Node} */
export function mendTools(group, list) {
  const tools = el("div", { class: "mend" });
  const status = el("span", { class: "hint", role: "status" });
  const move = (/** @type {any} */ to) => selected(list).length && mendAndClose("move", { rows: selected(list), to }, `Moved ${plural(selected(list).length, "item")}`);
  const changed = () => {
    const n = selected(list).length;
    status.textContent = n ? `${plural(n, "item")} selected` : "Select items to move them.";
    tools.classList.toggle("can-move", n > 0);
  };
  watch(list, changed);
  changed();
  list.addEventListener("dragstart", () => (tools.querySelector("details").open = true));
  look("groups?limit=500").then((reply) => {
    const others = (reply?.groups ?? []).filter(({ id }) => id !== group?.id);
    fill(tools, status, places("Move to", others, move, [["a new group", "new"], ["anywhere but here", null]]),
      group && [el("span", { class: "gap" }), button("Check this group", () => openCheck(group.id)), button("Split", () => openSplit(group.id)),
        places("Merge with", others, (id) => mendAndClose("merge", { groups: [group.id, id] }, "Merged two groups"))]);
  });
  return tools;
}

/** @type {(title: any, ...content: any[]) => void} */
const show = (title, ...content) => openDialog("group", el("h2", { id: "group-title" }, title), content);

/** The group with the most items in doubt, if there is one. @param {Group[]} groups */
export const mostInDoubt = (groups) => groups.filter((group) => group.n_doubtful).sort((a, b) => b.n_doubtful - a.n_doubtful)[0];

/** @type {(id: number) => Promise<void>} */
export async function openCheck(id) {
  const [reply, all] = await Promise.all([look(`group/${id}?order=doubt&limit=${PAGE}`), look("groups?limit=500")]);
  if (!reply || !all) return dialog.close();
  const { group } = reply;
  const next = mostInDoubt(all.groups.filter((other) => other.id !== id));
  const goOn = next && button(["Next: ", groupLine(next)], () => openCheck(next.id));
  const things = reply.members.filter((thing) => thing.how !== "said");
  if (!things.length) return show(["All checked: ", groupLine(group)], el("p", {}, `You said that all ${plural(group.size, "item")} belong here.`), goOn);
  const list = el("ul", { class: "members checking" }, things.map((thing) => selectable(thing)));
  const confirm = button(["All of these belong here ", el("kbd", {}, "C")], async () => {
    const said = { right: selected(list, false), wrong: selected(list) };
    if (!(await mend("confirm", { group: id, ...said }, `Checked ${plural(things.length, "item")}`))) return;
    // The id of a group is that of one of its items, which may have left it.
    const now = said.right.length ? await look(`item/${said.right[0]}`) : null;
    if (now) openCheck(now.group.id);
    else dialog.close();
  }, { class: "primary" });
  watch(list, () => (confirm.firstChild.textContent = selected(list).length ? "The others belong here " : "All of these belong here "));
  show(["Check ", groupLine(group)],
    el("p", { class: "hint" }, `The least certain come first; you have not said anything about ${count(group.size - group.n_said)} of ${plural(group.size, "item")} yet. Select those that do not belong here.`),
    el("div", { class: "mend" }, confirm, goOn), list);
  return list.querySelector("input").focus();
}

async function openSplit(/** @type {number} */ id) {
  const reply = await look(`group/${id}/parts`);
  if (!reply) return;
  const lists = reply.parts.map((part) => el("ul", { class: "members" }, part.shown.map((thing) => selectable(thing))));
  const parts = () => [0, 1].map((k) => [...selected(lists[k], false), ...selected(lists[1 - k])]);
  show("Split into these two?",
    el("p", { class: "hint" }, "These are its two most likely parts. Selected items go to the other part. What you see stays as you leave it; the rest follows from what is learned."),
    el("div", { class: "mend" }, button("Split like this", () => mendAndClose("split", { parts: parts() }, "Split the group"), { class: "primary" })),
    el("div", { class: "parts" }, lists.map((list, k) => el("section", { ariaLabel: `Part ${k + 1}` }, el("h3", {}, plural(reply.parts[k].size, "item")), list))));
}

export function startMending() {
  /** Keys move selected items, by the list “Move to”. @returns {HTMLElement[]} */
  const ways = () => [...dialog.querySelectorAll(".can-move details:first-of-type [data-key]")];
  const typed = keyTyper(() => ways().map((way) => way.dataset.key ?? ""), (key) => ways().find((way) => way.dataset.key === key)?.click());
  dialog.addEventListener("keydown", (/** @type {any} */ event) => {
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=checkbox]), select")) return;
    if (key === "c" && dialog.querySelector(".checking")) dialog.querySelector(".mend .primary").click();
    else if (key.length === 1 && typed(key)) event.preventDefault();
  });
}
