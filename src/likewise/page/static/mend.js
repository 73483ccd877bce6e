// Mending the result: move selected items, merge groups, split one, check one. Each is one thing to undo.

import { carryOut, change, look, notice, openDialog } from "./app.js";
import { button, byId, count, el, every, fill, first, keyMark, keyTyper, plural } from "./dom.js";
import { roving } from "./grids.js";
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

/** What moves more than one item is shown before it is done: how many, and which follow. A `careful` one is always shown, and Enter alone does not do it.
 * @type {(path: string, body: any, words: string, then: (state: State) => unknown, careful?: any) => Promise<void>} */
async function foresee(path, body, words, then, careful) {
  const foreseen = await change(path, { ...body, preview: true });
  if (!foreseen) return;
  /** @type {Changes} */
  const preview = foreseen.preview;
  const apply = async () => {
    const state = await mend(path, body, words);
    if (state) await then(state);
  };
  if (preview.n <= 1 && !careful) return void apply();
  const go = button("Apply", apply, { class: careful ? "plain" : "primary" });
  const rest = preview.n_following - preview.following.length;
  const top = every("dialog[open]").at(-1);
  top.querySelector(".foreseen")?.remove();
  const head = el("p", { tabIndex: -1 }, careful ?? el("b", {}, `${plural(preview.n, "item")} would change their group.`), ` ${followWords(preview)}`);
  const box = el("div", { class: "foreseen", role: "status" },
    head, preview.n_following > 0 && el("div", { class: "tiles" }, preview.following.map((thing) => tile(thing)), rest > 0 && el("span", { class: "hint" }, `and ${count(rest)} more`)),
    go, button("Cancel", () => box.remove(), { "data-closes": "" }));
  top.querySelector("header").after(box);
  top.scrollTop = 0;
  (careful ? head : go).focus();
}

const mendAndClose = (/** @type {string} */ path, /** @type {any} */ body, /** @type {string} */ words) => foresee(path, body, words, () => dialog.close());

/** Items that are selected by click, by Space, with Shift from the last one on, or by drawing over them. @type {(thing: Known, ways?: any, place?: any) => any} */
export function selectable(thing, ways, place) {
  const box = el("input", { type: "checkbox", value: thing.row, ariaLabel: `Select ${thing.title}, ${howWords(thing)}` });
  return el("li", { class: thing.is_marked ? "member marked" : "member" },
    el("label", {}, box, knownTile(thing), !/^Picture \d+$/.test(thing.title) && el("span", { class: "title cut", dir: "auto" }, thing.title), el("span", { class: "hint how-words" }, howWords(thing))),
    place, el("span", { class: "member-ways" }, button("Enlarge", () => enlarge(thing, box.closest("ul")), { class: "quiet enlarge", ariaLabel: `Enlarge ${thing.title}` }), ways));
}

const itemDialog = byId("item-dialog");

/** One item as large as there is room, over everything else; from one to the next where it is in a list. @type {(thing: Pick<Thing, "row">, list?: HTMLElement | null) => Promise<void>} */
export async function enlarge({ row }, list) {
  const reply = await look(`item/${row}`);
  if (!reply) return;
  const { item } = reply;
  /** @type {any[]} */
  const boxes = [...(list?.querySelectorAll("input[type=checkbox]") ?? [])];
  const at = boxes.findIndex((box) => Number(box.value) === row);
  const step = (/** @type {string} */ words, /** @type {string} */ key, /** @type {any} */ to) => button([words, " ", el("kbd", {}, key)], () => enlarge({ row: Number(to.value) }, list).then(() => (first(`#item-dialog [aria-label="${words}"]:enabled`) ?? first("#item-dialog form button")).focus()), { class: "plain", ariaLabel: words, disabled: !to });
  openDialog("item", [el("h2", { id: "item-title", dir: "auto" }, item.heading), boxes.length > 1 && el("span", { class: "line steps" }, step("Previous", "←", boxes[at - 1]), el("span", { class: "hint" }, `${count(at + 1)} of ${count(boxes.length)}`), step("Next", "→", boxes[at + 1]))],
    el("div", { class: "side" }, partsOf(item)),
    el("div", { class: "line" }, where(item, () => enlarge({ row }, list)), el("span", { class: "hint" }, howWords(item), item.copies.length > 0 && ` · the same as ${item.copies.join(", ")}`)));
  itemDialog.onclose = () => boxes[at]?.focus();
}

/** In which group an item is, and where else it may go. @type {(thing: Known, then: () => unknown) => Node} */
export function where(thing, then) {
  const line = el("span", { class: "group-line" }, keyMark(thing), el("span", { class: "cut", dir: "auto" }, thing.name || (thing.key ? `group ${thing.key.toUpperCase()}` : "no group yet")));
  const move = (/** @type {any} */ to) => foresee("move", { rows: [thing.row], to }, `Moved ${thing.title}`, () => {
    document.dispatchEvent(new Event("mended"));
    return then();
  });
  const menu = places(line, () => otherGroups(thing.group), move, [["a new group", "new"]]);
  menu.querySelector("summary").ariaLabel = `${thing.title} is in ${thing.name || (thing.key ? `group ${thing.key.toUpperCase()}` : "no group yet")}: change its group`;
  return menu;
}

/** @type {(list: HTMLElement, changed: () => void) => void} */
function watch(list, changed) {
  /** @type {HTMLInputElement | null} */
  let last = null;
  /** @type {any} */
  let drawn = null;
  const tick = (/** @type {HTMLElement[]} */ ...entries) => {
    for (const one of entries) /** @type {any} */ (one.querySelector("input")).checked = true;
    changed();
  };
  roving(list, "input", tick);
  list.addEventListener("keydown", (/** @type {any} */ { key, target }) => key === "Enter" && target.type === "checkbox" && target.closest(".member").querySelector(".enlarge").click());
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
    const item = event.target.closest(".member");
    if (item) item.draggable = item.querySelector("input").checked;
    drawn = event.pointerType === "mouse" && !item?.draggable ? item : null;
  });
  list.addEventListener("pointerover", (/** @type {any} */ event) => {
    const item = event.target.closest(".member");
    if (event.buttons !== 1 || !drawn || !item || item === drawn) return;
    tick(drawn, item);
  });
}

/** @type {(list: HTMLElement, isIt?: boolean) => number[]} */
const selected = (list, isIt = true) => [...list.querySelectorAll("input")].filter((box) => box.checked === isIt).map((box) => Number(box.value));

/** Where items can go: groups by their pictures, each by a click, by its key, or by dropping items on it. They are fetched when the menu opens, or known.
 * @type {(words: any, groups: Group[] | (() => Promise<Group[]>), pick: (to: any) => unknown, others?: [string, string | null][]) => any} */
function places(words, groups, pick, others = []) {
  const list = el("ul", { class: "places" });
  const show = (/** @type {Group[]} */ found) => {
    /** @type {[any, any, string?][]} */
    const ways = [...others, ...found.map((group) => /** @type {[any, any, string]} */ ([groupLine(group), group.id, group.key]))];
    fill(list, ways.map(([content, to, key]) => {
      const choose = (/** @type {Event} */ event) => {
        event.preventDefault();
        menu.open = false;
        pick(to);
      };
      return el("li", {}, button(content, choose, { class: "quiet", "data-key": key, on: { click: choose, drop: choose, dragover: (event) => event.preventDefault() } }));
    }));
  };
  const opened = async () => typeof groups === "function" && menu.open && !list.children.length && show(await groups());
  const menu = el("details", { class: "menu", on: { toggle: opened } }, el("summary", { class: "plain" }, words), list);
  if (typeof groups !== "function") show(groups);
  return menu;
}

const otherGroups = async (/** @type {number | undefined} */ id) => ((await look("groups?limit=500"))?.groups ?? []).filter((group) => group.id !== id);

/** Tools for the selected items of a list, and for its group if it is one; `then` follows a move.
 * @type {(group: Group | undefined, list: HTMLElement, then: () => unknown) => Node} */
export function mendTools(group, list, then) {
  const tools = el("div", { class: "mend" });
  const status = el("span", { class: "hint", role: "status" });
  const move = (/** @type {any} */ to) => selected(list).length && foresee("move", { rows: selected(list), to }, `Moved ${plural(selected(list).length, "item")}`, then);
  const changed = () => {
    const n = selected(list).length;
    status.textContent = n ? `${plural(n, "item")} selected` : "Select items to move them.";
    tools.classList.toggle("can-move", n > 0);
  };
  watch(list, changed);
  changed();
  list.addEventListener("dragstart", () => (tools.querySelector("details").open = true));
  new MutationObserver(changed).observe(list, { childList: true });
  otherGroups(group?.id).then((others) => {
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
  const confirm = button(el("span", {}, ""), () => {
    const said = { right: selected(list, false), wrong: selected(list) };
    const n = said.right.length;
    const words = [el("b", {}, `You would say of ${plural(n, "item")} that ${n === 1 ? "it belongs" : "they belong"} here`, said.wrong.length > 0 && `, and of ${count(said.wrong.length)} that ${said.wrong.length === 1 ? "it does" : "they do"} not`, "."), " "];
    return foresee("confirm", { group: id, ...said }, `Checked ${plural(things.length, "item")}`, async () => {
      // The id of a group is that of one of its items, which may have left it.
      const now = n ? await look(`item/${said.right[0]}`) : null;
      if (now) openCheck(now.group.id);
      else dialog.close();
    }, words);
  }, { id: "confirm" });
  const named = () => {
    const n = selected(list).length;
    fill(confirm, `${n ? `The other ${count(things.length - n)}` : `All ${count(things.length)}`} belong here `, el("kbd", {}, "C"));
  };
  watch(list, named);
  named();
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
  const ways = () => [...dialog.querySelectorAll(".can-move details:first-of-type [data-key], .again [data-key]")];
  const typed = keyTyper(() => ways().map((way) => way.dataset.key ?? ""), (key) => ways().find((way) => way.dataset.key === key)?.click());
  dialog.addEventListener("keydown", (/** @type {any} */ event) => {
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=checkbox]), select")) return;
    if (key === "c" && dialog.querySelector(".checking")) first("#confirm").click();
    else if (key.length === 1 && typed(key)) event.preventDefault();
  });
  itemDialog.addEventListener("keydown", (/** @type {any} */ event) => {
    const words = { ArrowLeft: "Previous", ArrowRight: "Next" }[/** @type {string} */ (event.key)];
    if (words && !event.target.closest(".places, .text, .table-box")) first(`#item-dialog [aria-label="${words}"]`)?.click();
  });
}
