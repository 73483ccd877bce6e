// All members of one group, in a dialog, where it is named and mended.

import { carryOut, changeInTurn, complain, look, notice, openDialog } from "./app.js";
import { button, byId, el, fill, keyMark, moreButton, plural } from "./dom.js";
import { mendTools, selectable, where } from "./mend.js";
import { groupName, knownLine, saidSo } from "./things.js";

const PAGE = 100;

export const openGroup = (/** @type {number} */ id) => openList(`group/${id}?`);

/** Items anywhere: all of them, or those with some rows. @param {number[]} [rows] */
export const openFind = (rows) => openList(rows ? `find?rows=${rows.join(",")}&` : "find?");

async function openList(/** @type {string} */ path) {
  /** @type {(more: Record<string, any>) => Promise<Listed | null>} */
  const ask = (more) => look(`${path}limit=${PAGE}&${new URLSearchParams(more)}`);
  const all = await ask({});
  if (!all) return;
  const { group } = all;
  const members = el("ul", { class: "members" });
  // Among items from anywhere, each says where it is.
  const member = (/** @type {Known} */ thing) => selectable(thing, waysOf(thing), !group && where(thing, () => {}));
  const below = el("div");
  const number = el("span", { class: "hint", role: "status" });
  const show = (/** @type {Listed} */ reply, asked = {}) => {
    fill(members, reply.members.map(member));
    number.textContent = plural(reply.n, "item");
    fill(below, moreButton(members, reply.n, "Show more", async (at) => (await ask({ ...asked, offset: at }))?.members.map(member)));
  };
  /** @type {any} */
  let last = null;
  const filter = async () => {
    /** @type {Record<string, any>} */
    const asked = Object.fromEntries(new FormData(filters));
    last = asked;
    const reply = await ask(asked);
    if (reply && asked === last) show(reply, asked);
  };
  /** @type {(name: string, label: string, ways: string[][]) => Node} */
  const select = (name, label, ways) => el("select", { name, ariaLabel: label }, ways.map(([value, words]) => el("option", { value }, words)));
  const filters = el("form", { class: "filters", on: { input: () => filter().catch(complain), submit: (event) => event.preventDefault() } },
    el("input", { type: "search", name: "text", placeholder: "Find in names, texts and fields", ariaLabel: "Find in names, texts and fields" }),
    select("how", "How it is known", [["", "known in any way"], ["said", saidSo()], ["learned", "learned"], ["doubt", "less than 80% sure"], ["open", "open"]]),
    select("order", "Order", [["", group ? "typical first" : "in order"], ["doubt", "doubtful first"], ["name", "by name"]]), number);
  show(all);
  refresh = () => members.isConnected && filter();
  openDialog("group", group ? [keyMark(group), el("h2", { id: "group-title", class: "unseen", dir: "auto" }, titleOf(group)), nameField(group)] : el("h2", { id: "group-title" }, "Find items"),
    group && el("p", { class: "hint" }, `${plural(group.size, "item")}: ${knownLine(group)}.`), filters, mendTools(group, members, group ? () => byId("group-dialog").close() : filter), members, below);
}

/** The list that is open shows what was mended. @type {() => unknown} */
let refresh = () => {};
document.addEventListener("mended", () => refresh());

const titleOf = (/** @type {Group} */ group) => group.name || "A group without a name";

const waysOf = (/** @type {Known} */ thing) => [thing.is_marked && el("span", { class: "hint" }, "you marked it"),
  button("Ask me", () => doubt(thing), { class: "quiet", title: "Ask me about it", ariaLabel: `${thing.title}: ask me` })];

export async function doubt(/** @type {Thing} */ thing) {
  const state = await carryOut("misfit", { row: thing.row });
  if (!state) return;
  byId("group-dialog").close();
  const [answer] = state.answers_behind;
  location.hash = answer ? `#history/${answer}` : "#ask";
  notice(answer
    ? `“${thing.title}” is there because of answer ${state.answers_behind.join(", ")}. Change it here if it was a slip.`
    : `“${thing.title}” may not fit there. Does it belong with the one beside it?`);
}

/** @type {(group: Group, named?: () => void) => Node} */
export function nameField(group, named) {
  const save = async () => {
    if (input.value.trim() === group.name) return;
    const reply = await changeInTurn("name", { group: group.id, name: input.value });
    if (!reply) return;
    group.name = reply.group.name;
    named?.();
    if (byId("group-dialog").open) byId("group-title").textContent = titleOf(group);
    document.dispatchEvent(new Event("named"));
  };
  const keydown = (/** @type {KeyboardEvent} */ { key }) => {
    if (key !== "Enter") return;
    // An empty field shows what the group could be called.
    if (!input.value) input.value = group.summary.slice(0, input.maxLength);
    if (!group.name && input.value === group.summary) save();
    input.blur();
  };
  const input = el("input", { class: "name", type: "text", maxLength: 200, value: group.name, placeholder: group.summary ? `${group.summary} ?` : "name this group", title: group.summary ? "Enter takes the suggestion" : "", ariaLabel: `Name of ${groupName(group)}`, autocomplete: "off", dir: "auto", on: { change: save, keydown } });
  return input;
}
