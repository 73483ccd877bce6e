// All members of one group, in a dialog, where it is named and mended.

import { carryOut, changeInTurn, complain, look, notice, openDialog } from "./app.js";
import { button, byId, el, keyMark, moreButton, plural } from "./dom.js";
import { mendTools, selectable } from "./mend.js";
import { groupName, knownLine } from "./things.js";

const PAGE = 100;

export const openGroup = (/** @type {number} */ id) => openList(`group/${id}`);

/** Items anywhere: all of them, or those with some rows. @param {number[]} [rows] */
export const openFind = (rows) => openList(rows ? `find?rows=${rows.join(",")}` : "find");

async function openList(/** @type {string} */ path) {
  /** @type {(more: Record<string, any>) => Promise<Listed | null>} */
  const ask = (more) => look(`${path}${path.includes("?") ? "&" : "?"}limit=${PAGE}&${new URLSearchParams(more)}`);
  const first = await ask({});
  if (!first) return;
  const { group } = first;
  const members = el("ul", { class: "members" });
  const below = el("div", {});
  const count = el("span", { class: "hint", role: "status" });
  /** @type {any} */
  let last = null;
  const show = async (/** @type {Listed | null} */ known = null) => {
    const mine = Object.fromEntries(new FormData(filters));
    last = mine;
    const found = known ?? (await ask(mine));
    if (!found || mine !== last) return;
    members.replaceChildren(...found.members.map(member));
    count.textContent = plural(found.n, "item");
    below.replaceChildren(...moreButton(members, found.n, (left) => `Show ${Math.min(PAGE, left)} more`, async (at) => (await ask({ ...mine, offset: at }))?.members.map(member)));
  };
  /** @type {(name: string, label: string, ways: string[][]) => Node} */
  const select = (name, label, ways) => el("select", { name, ariaLabel: label }, ...ways.map(([value, words]) => el("option", { value }, words)));
  const filters = el("form", { class: "filters", on: { input: () => show().catch(complain), submit: (event) => event.preventDefault() } },
    el("input", { type: "search", name: "text", placeholder: "Find in names, texts and fields", ariaLabel: "Find in names, texts and fields" }),
    select("how", "How it is known", [["", "known in any way"], ["said", "you said so"], ["learned", "learned"], ["doubt", "less than 80 % sure"], ["open", "open"]]),
    select("order", "Order", [["", group ? "typical first" : "in order"], ["doubt", "doubtful first"], ["name", "by name"]]), count);
  const head = group ? [keyMark(group), el("h2", { id: "group-title", class: "unseen", dir: "auto" }, titleOf(group)), nameField(group)] : [el("h2", { id: "group-title" }, "Find items")];
  await show(first);
  openDialog(head, group ? el("p", { class: "hint" }, `${plural(group.size, "item")}: ${knownLine(group)}.`) : "", filters, mendTools(group, members), members, below);
}

const titleOf = (/** @type {Group} */ group) => group.name || "A group without a name";

function member(/** @type {Known} */ thing) {
  return selectable(thing,
    thing.is_marked ? el("span", { class: "hint" }, "you marked it") : null,
    button("Ask me", () => doubt(thing), { class: "quiet", title: "Ask me about it", ariaLabel: `${thing.title}: ask me` }));
}

export async function doubt(/** @type {Thing} */ thing) {
  const state = await carryOut("misfit", { row: thing.row });
  if (!state) return;
  byId("group-dialog").close();
  if (state.answers_behind.length) {
    location.hash = `#history/${state.answers_behind[0]}`;
    notice(`You said yourself that “${thing.title}” belongs there: answer ${state.answers_behind.join(", ")}. Change it here if it was a slip.`);
  } else {
    location.hash = "#ask";
    notice(`“${thing.title}” may not fit there. Does it belong to the one beside it?`);
  }
}

/** @type {(group: Group, named?: () => void) => Node} */
export function nameField(group, named) {
  const input = el("input", { type: "text", maxLength: 200, value: group.name, placeholder: group.summary ? `${group.summary} ?` : "name this group", title: group.summary ? "Enter takes the suggestion" : null, ariaLabel: `Name of ${groupName(group)}`, autocomplete: "off", dir: "auto" });
  const save = async () => {
    if (input.value.trim() === group.name) return;
    const reply = await changeInTurn("name", { group: group.id, name: input.value });
    if (!reply) return;
    group.name = reply.group.name;
    named?.();
    if (byId("group-dialog").open) byId("group-title").textContent = titleOf(group);
    document.dispatchEvent(new Event("named"));
  };
  input.addEventListener("change", save);
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter") return;
    // An empty field shows what the group could be called.
    if (!input.value) input.value = group.summary.slice(0, input.maxLength);
    if (!group.name && input.value === group.summary) save();
    input.blur();
  });
  return el("div", { class: "name" }, input);
}
