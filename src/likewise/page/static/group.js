// All members of one group, in a dialog, where it is named and mended.

import { app, change, changeInTurn, fillDialog, look, notice, take } from "./app.js";
import { byId, el, plural } from "./dom.js";
import { knownLine } from "./how.js";
import { mendTools, selectable } from "./mend.js";
import { groupName } from "./things.js";

const PAGE = 100;
const changed = [];
export const onNames = (listener) => changed.push(listener);

export async function openGroup(id) {
  const found = await look(`group/${id}?limit=${PAGE}`);
  if (!found) return;
  const dialog = byId("group-dialog");
  const members = el("ul", { class: "members" }, ...found.members.map(member));
  fillDialog(
    el("header", {},
      el("h2", { id: "group-title", class: "unseen", dir: "auto" }, titleOf(found.group)),
      nameField(found.group),
      el("form", { method: "dialog" }, el("button", { class: "plain", autofocus: true }, "Close"))),
    el("p", { class: "hint" }, `${plural(found.group.size, "item")}: ${knownLine(found.group)}. Typical ones come first.`),
    mendTools(found.group, members),
    members);
  const more = moreButton(found.group, members);
  if (more) dialog.append(more);
  if (!dialog.open) dialog.showModal();
}

const titleOf = (group) => group.name || "A group without a name";

function moreButton(group, members) {
  if (group.size <= PAGE) return null;
  const button = el("button", { type: "button", class: "plain" }, `Show ${Math.min(PAGE, group.size - PAGE)} more`);
  button.addEventListener("click", async () => {
    const next = await look(`group/${group.id}?limit=${PAGE}&offset=${members.children.length}`);
    if (!next) return;
    members.append(...next.members.map(member));
    const left = group.size - members.children.length;
    if (left > 0) button.textContent = `Show ${Math.min(PAGE, left)} more`;
    else button.remove();
  });
  return button;
}

function member(thing) {
  const button = el("button", { type: "button", class: "quiet doubt", ariaLabel: `${thing.title}: ask me` }, "Ask me about it");
  button.addEventListener("click", () => doubt(thing));
  return selectable(thing, thing.is_marked ? el("span", { class: "hint" }, "you marked it") : null, button);
}

export async function doubt(thing) {
  const state = await change("misfit", { row: thing.row });
  if (!state) return;
  await take(state);
  if (byId("group-dialog").open) byId("group-dialog").close();
  if (state.answers_behind.length) {
    location.hash = `#history/${state.answers_behind[0]}`;
    notice(`You said yourself that “${thing.title}” belongs there: answer ${state.answers_behind.join(", ")}. Change it here if it was a slip.`);
  } else {
    location.hash = "#ask";
    notice(`“${thing.title}” is on its own now. Does it belong to the one beside it?`);
  }
}

export function nameField(group, named = () => {}) {
  const input = el("input", { type: "text", maxLength: 200, value: group.name, placeholder: group.summary ? `${group.summary} ?` : "name this group", title: group.summary ? "Enter takes the suggestion" : null, ariaLabel: `Name of ${groupName(group)}`, autocomplete: "off", dir: "auto" });
  const save = async () => {
    if (input.value.trim() === group.name) return;
    const reply = await changeInTurn("name", { group: group.id, name: input.value });
    if (!reply) return;
    group.name = reply.group.name;
    named(group);
    const title = byId("group-title");
    if (title && byId("group-dialog").open) title.textContent = titleOf(group);
    for (const listener of changed) listener(app.state);
  };
  input.addEventListener("change", save);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    // An empty field shows what the group could be called.
    if (!input.value) input.value = group.summary.slice(0, input.maxLength);
    if (!group.name && input.value === group.summary) save();
    input.blur();
  });
  return el("div", { class: "name" }, input);
}
