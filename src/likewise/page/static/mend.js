// Mending the result: move selected items, merge groups, split one, check one. Each is one thing to undo.

import { carryOut, look, notice, openDialog } from "./app.js";
import { button, byId, el, plural } from "./dom.js";
import { groupName, howWords, knownTile } from "./things.js";

const PAGE = 24;

async function mend(path, body, words) {
  const dialog = byId("group-dialog");
  dialog.setAttribute("aria-busy", "true");
  const state = await carryOut(path, body);
  dialog.removeAttribute("aria-busy");
  if (!state) return null;
  const n = state.n_overruled;
  notice(`${words}${n > 0 ? `, against ${plural(n, "earlier answer")}` : ""}. Undo takes it back.`);
  return state;
}

async function mendAndClose(path, body, words) {
  if (await mend(path, body, words)) byId("group-dialog").close();
}

// Items that are ticked by click, by Space, with Shift from the last one on, or by drawing over them.
export function selectable(thing, ...more) {
  const box = el("input", { type: "checkbox", value: thing.row, ariaLabel: `Select ${thing.title}, ${howWords(thing)}` });
  return el("li", { class: thing.is_marked ? "member marked" : "member" },
    el("label", {}, box, knownTile(thing, "tile large"), el("span", { class: "title", dir: "auto" }, thing.title), el("span", { class: "hint how-words" }, howWords(thing))),
    ...more);
}

function watch(list, changed) {
  let last = null;
  let drawn = null;
  const boxes = () => [...list.querySelectorAll("input")];
  list.addEventListener("click", (event) => {
    const box = event.target;
    if (box.type !== "checkbox") return;
    const all = boxes();
    if (event.shiftKey && last) {
      const [from, to] = [all.indexOf(last), all.indexOf(box)].sort((a, b) => a - b);
      for (const one of all.slice(from, to + 1)) one.checked = box.checked;
    }
    last = box;
    changed();
  });
  list.addEventListener("pointerdown", (event) => (drawn = event.pointerType === "mouse" ? event.target.closest("li") : null));
  list.addEventListener("pointerover", (event) => {
    const item = event.target.closest("li");
    if (event.buttons !== 1 || !drawn || !item || item === drawn) return;
    for (const one of [drawn, item]) one.querySelector("input").checked = true;
    changed();
  });
}

const ticked = (list, isIt = true) => [...list.querySelectorAll("input")].filter((box) => box.checked === isIt).map((box) => Number(box.value));

export function mendTools(group, list) {
  const where = el("select", { ariaLabel: "Where to" }, el("option", { value: "new" }, "a new group"), el("option", { value: "" }, "not here, wherever it is"));
  const other = el("select", { ariaLabel: "Merge with" }, el("option", { value: "" }, "another group"));
  const count = el("span", { class: "hint", role: "status" }, "Tick items to move them.");
  const move = button("Move", () => {
    const rows = ticked(list);
    const to = where.value === "new" ? "new" : where.value === "" ? null : Number(where.value);
    mendAndClose("move", { rows, to }, `Moved ${plural(rows.length, "item")}`);
  }, { class: "primary", disabled: true });
  const join = button("Merge", () => mendAndClose("merge", { groups: [group.id, Number(other.value)] }, "Merged two groups"), { disabled: true });
  watch(list, () => {
    const n = ticked(list).length;
    move.disabled = n === 0;
    count.textContent = n ? `${plural(n, "item")} to` : "Tick items to move them.";
  });
  // Not at once: arrow keys go through the list.
  other.addEventListener("change", () => (join.disabled = !other.value));
  fill(group, where, other);
  return el("div", { class: "mend" },
    el("span", { class: "together" }, count, where, move),
    el("span", { class: "gap" }),
    button("Check this group", () => openCheck(group.id)),
    button("Split", () => openSplit(group.id)),
    el("span", { class: "together" }, el("span", { class: "hint" }, "Merge with"), other, join));
}

async function fill(group, ...lists) {
  const found = await look("groups?limit=500");
  for (const one of found?.groups ?? []) {
    if (one.id === group.id) continue;
    for (const list of lists) list.append(el("option", { value: one.id }, `${groupName(one)} (${one.size})`));
  }
}

const show = (title, ...content) => openDialog([el("h2", { id: "group-title" }, title)], ...content);

// The group with the most items in doubt, if there is one.
export function mostInDoubt(groups) {
  const most = groups.reduce((a, b) => (b.n_doubtful > a.n_doubtful ? b : a), groups[0]);
  return most?.n_doubtful ? most : null;
}

export async function openCheck(id) {
  const [found, all] = await Promise.all([look(`group/${id}?order=doubt&limit=${PAGE}`), look("groups?limit=500")]);
  if (!found || !all) return byId("group-dialog").close();
  const next = mostInDoubt(all.groups.filter((group) => group.id !== id));
  const others = next ? [button(`Next: ${next.n_doubtful.toLocaleString("en")} in doubt elsewhere`, () => openCheck(next.id))] : [];
  const things = found.members.filter((thing) => thing.how !== "said");
  if (!things.length) {
    show(`All checked: ${groupName(found.group)}`, el("p", {}, `You said of all ${plural(found.group.size, "item")} that they belong here.`), ...others);
    return undefined;
  }
  const list = el("ul", { class: "members checking" }, ...things.map((thing) => selectable(thing)));
  const confirm = button(["All of these belong here ", el("kbd", {}, "C")], async () => {
    const said = { right: ticked(list, false), wrong: ticked(list) };
    if (await mend("confirm", { group: id, ...said }, `Checked ${plural(things.length, "item")}`)) openCheck(id);
  }, { class: "primary" });
  watch(list, () => (confirm.firstChild.textContent = ticked(list).length ? "The others belong here " : "All of these belong here "));
  const left = found.group.size - found.group.n_said;
  show(`Check: ${groupName(found.group)}`,
    el("p", { class: "hint" }, `The least certain come first; ${left.toLocaleString("en")} of ${plural(found.group.size, "item")} are not said yet. Tick those that do not belong here.`),
    el("div", { class: "mend" }, confirm, ...others), list);
  list.querySelector("input").focus();
  return undefined;
}

async function openSplit(id) {
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
  byId("group-dialog").addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "c" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input[type=text], select")) return;
    byId("group-dialog").querySelector(".checking") && byId("group-dialog").querySelector(".mend .primary").click();
  });
}
