// Mending the result: move selected items, merge groups, split one, check one. Each is one thing to undo.

import { carryOut, change, look, notice, openDialog } from "./app.js";
import { button, byId, el, keyTyper, plural } from "./dom.js";
import { partsOf } from "./pair.js";
import { groupLine, howWords, knownTile, tile } from "./things.js";

const PAGE = 24;

/** @type {(path: string, body: any, words: string) => Promise<State | null>} */
async function mend(path, body, words) {
  const dialog = byId("group-dialog");
  dialog.setAttribute("aria-busy", "true");
  const state = await carryOut(path, body);
  dialog.removeAttribute("aria-busy");
  if (!state) return null;
  const { n_overruled: n, changes } = state;
  const following = changes.n_following ? ` ${changesWords(changes)}` : "";
  notice(`${words}${n > 0 ? `, against ${plural(n, "earlier answer")}` : ""}.${following} Undo takes it back.`);
  return state;
}

/** @param {Changes} changes */
const changesWords = ({ n_following: n }) => (n ? `${plural(n, "other item")} ${n === 1 ? "follows" : "follow"} by what is learned.` : "No other item changes its group.");

/** What moves more than one item is shown before it is done: how many, and which follow. @type {(path: string, body: any, words: string) => Promise<void>} */
async function mendAndClose(path, body, words) {
  const foreseen = await change(path, { ...body, preview: true });
  if (!foreseen) return;
  /** @type {Changes} */
  const preview = foreseen.preview;
  const apply = async () => (await mend(path, body, words)) && byId("group-dialog").close();
  if (preview.n <= 1) return void apply();
  const go = button("Do it", apply, { class: "primary" });
  const rest = preview.n_following - preview.following.length;
  byId("group-dialog").querySelector(".foreseen")?.remove();
  byId("group-dialog").querySelector("header").after(el("div", { class: "foreseen", role: "status" },
    el("p", {}, el("b", {}, `${plural(preview.n, "item")} would change ${preview.n === 1 ? "its" : "their"} group.`), ` ${changesWords(preview)}`),
    preview.n_following ? el("div", { class: "tiles" }, ...preview.following.map((thing) => tile(thing)), rest ? el("span", { class: "hint" }, `and ${rest.toLocaleString("en")} more`) : "") : "",
    go, button("Leave it", ({ currentTarget }) => currentTarget.closest(".foreseen").remove())));
  go.focus();
}

/** Items that are ticked by click, by Space, with Shift from the last one on, or by drawing over them. @type {(thing: Known, ...more: any[]) => Node} */
export function selectable(thing, ...more) {
  const box = el("input", { type: "checkbox", value: thing.row, ariaLabel: `Select ${thing.title}, ${howWords(thing)}` });
  return el("li", { class: thing.is_marked ? "member marked" : "member" },
    el("label", {}, box, knownTile(thing, "tile large"), el("span", { class: "title", dir: "auto" }, thing.title), el("span", { class: "hint how-words" }, howWords(thing))),
    el("span", { class: "member-ways" }, button("Enlarge", () => enlarge(thing), { class: "quiet", ariaLabel: `Enlarge ${thing.title}` }), ...more));
}

/** One item as large as there is room, over everything else. @param {Thing} thing */
export async function enlarge({ row }) {
  const found = await look(`item/${row}`);
  if (!found) return;
  const { item, group } = found;
  const dialog = byId("item-dialog");
  dialog.replaceChildren(el("header", {}, el("h2", { id: "item-title", dir: "auto" }, item.heading), el("form", { method: "dialog" }, el("button", { class: "plain" }, "Close"))),
    el("div", { class: "side" }, ...partsOf(item)), el("p", { class: "hint" }, groupLine(group), " ", howWords(item), item.copies.length ? ` · the same as ${item.copies.join(", ")}` : ""));
  dialog.showModal();
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
    if (shiftKey && last) {
      const [from, to] = [all.indexOf(last), all.indexOf(box)].sort((a, b) => a - b);
      for (const one of all.slice(from, to + 1)) one.checked = box.checked;
    }
    last = box;
    changed();
  });
  // From a ticked item on, the ticked ones are dragged to a group; from another on, items are ticked.
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
const ticked = (list, isIt = true) => [...list.querySelectorAll("input")].filter((box) => box.checked === isIt).map((box) => Number(box.value));

/** Where items can go: groups by their pictures, each by a click, by its key, or by dropping items on it.
 * @type {(words: string, groups: Group[], pick: (to: number | string | null) => unknown, others?: [string, string | null][]) => any} */
function places(words, groups, pick, others = []) {
  /** @type {(content: any, to: number | string | null, key?: string) => Node} */
  const choice = (content, to, key) => el("li", {}, el("button", { type: "button", class: "quiet", "data-key": key,
    on: { click: (event) => { event.currentTarget.closest("details").open = false; pick(to); }, dragover: (event) => event.preventDefault(), drop: (event) => { event.preventDefault(); pick(to); } } }, content));
  return el("details", { class: "menu" }, el("summary", { class: "plain" }, words),
    el("ul", { class: "places" }, ...others.map(([content, to]) => choice(content, to)), ...groups.map((group) => choice(groupLine(group), group.id, group.key))));
}

/** Tools for the ticked items of a list, and for its group if it is one. @type {(group: Group | undefined, list: HTMLElement) => Node} */
export function mendTools(group, list) {
  const tools = el("div", { class: "mend" });
  const count = el("span", { class: "hint", role: "status" });
  const move = (/** @type {number | string | null} */ to) => ticked(list).length && mendAndClose("move", { rows: ticked(list), to }, `Moved ${plural(ticked(list).length, "item")}`);
  const changed = () => {
    const n = ticked(list).length;
    count.textContent = n ? `${plural(n, "item")} ticked` : "Tick items to move them.";
    tools.classList.toggle("has-ticked", n > 0);
  };
  watch(list, changed);
  changed();
  list.addEventListener("dragstart", () => (tools.querySelector("details").open = true));
  look("groups?limit=500").then((found) => {
    const others = (found?.groups ?? []).filter(({ id }) => id !== group?.id);
    tools.replaceChildren(count,
      places("Move to", others, move, [["a new group", "new"], ["not here, wherever it is", null]]),
      el("span", { class: "gap" }),
      ...(group ? [button("Check this group", () => openCheck(group.id)), button("Split", () => openSplit(group.id)),
        places("Merge with", others, (id) => mendAndClose("merge", { groups: [group.id, id] }, "Merged two groups"))] : []));
  });
  return tools;
}

/** @type {(title: any, ...content: any[]) => void} */
const show = (title, ...content) => openDialog([el("h2", { id: "group-title" }, ...[title].flat())], ...content);

/** The group with the most items in doubt, if there is one. @param {Group[]} groups */
export function mostInDoubt(groups) {
  const most = groups.reduce((a, b) => (b.n_doubtful > a.n_doubtful ? b : a), groups[0]);
  return most?.n_doubtful ? most : null;
}

export async function openCheck(/** @type {number} */ id) {
  const [found, all] = await Promise.all([look(`group/${id}?order=doubt&limit=${PAGE}`), look("groups?limit=500")]);
  if (!found || !all) return byId("group-dialog").close();
  const next = mostInDoubt(all.groups.filter((group) => group.id !== id));
  const others = next ? [button(["Next: ", groupLine(next)], () => openCheck(next.id))] : [];
  const things = found.members.filter((thing) => thing.how !== "said");
  if (!things.length) {
    show(["All checked: ", groupLine(found.group)], el("p", {}, `You said of all ${plural(found.group.size, "item")} that they belong here.`), ...others);
    return undefined;
  }
  const list = el("ul", { class: "members checking" }, ...things.map((thing) => selectable(thing)));
  const confirm = button(["All of these belong here ", el("kbd", {}, "C")], async () => {
    const said = { right: ticked(list, false), wrong: ticked(list) };
    if (!(await mend("confirm", { group: id, ...said }, `Checked ${plural(things.length, "item")}`))) return;
    // The id of a group is that of one of its items, which may have left it.
    const now = said.right.length ? await look(`item/${said.right[0]}`) : null;
    if (now) openCheck(now.group.id);
    else byId("group-dialog").close();
  }, { class: "primary" });
  watch(list, () => (confirm.firstChild.textContent = ticked(list).length ? "The others belong here " : "All of these belong here "));
  const left = found.group.size - found.group.n_said;
  show(["Check ", groupLine(found.group)],
    el("p", { class: "hint" }, `The least certain come first; ${left.toLocaleString("en")} of ${plural(found.group.size, "item")} are not said yet. Tick those that do not belong here.`),
    el("div", { class: "mend" }, confirm, ...others), list);
  list.querySelector("input").focus();
  return undefined;
}

async function openSplit(/** @type {number} */ id) {
  const found = await look(`group/${id}/parts`);
  if (!found) return;
  const lists = found.parts.map((part) => el("ul", { class: "members" }, ...part.shown.map((thing) => selectable(thing))));
  const parts = () => [0, 1].map((k) => [...ticked(lists[k], false), ...ticked(lists[1 - k])]);
  show("Split into these two?",
    el("p", { class: "hint" }, "Its two most likely parts. Ticked items go to the other part. What you see is kept as you leave it; the rest follows by what is learned."),
    el("div", { class: "mend" }, button("Split so", () => mendAndClose("split", { parts: parts() }, "Split the group"), { class: "primary" })),
    el("div", { class: "parts" }, ...lists.map((list, k) => el("section", { ariaLabel: `Part ${k + 1}` }, el("h3", {}, plural(found.parts[k].size, "item")), list))));
}

export function startMending() {
  const dialog = byId("group-dialog");
  const place = (/** @type {string} */ key) => dialog.querySelector(`.has-ticked .places [data-key="${key}"]`);
  const typed = keyTyper(() => [...dialog.querySelectorAll(".has-ticked details:first-of-type [data-key]")].map((/** @type {HTMLElement} */ one) => one.dataset.key ?? ""), (key) => place(key).click());
  dialog.addEventListener("keydown", (/** @type {any} */ event) => {
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=checkbox]), select")) return;
    if (key === "c" && dialog.querySelector(".checking")) dialog.querySelector(".mend .primary").click();
    else if (key.length === 1 && typed(key)) event.preventDefault();
  });
}
