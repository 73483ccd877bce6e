// All members of one group, in a dialog, where it is named and mended.

import { app, carryOut, changeInTurn, look, notice, openDialog } from "./app.js";
import { button, byId, el, moreButton, plural } from "./dom.js";
import { mendTools, selectable } from "./mend.js";
import { groupName, knownLine } from "./things.js";

const PAGE = 100;
const changed = [];
export const onNames = (listener) => changed.push(listener);

export async function openGroup(id) {
  const found = await look(`group/${id}?limit=${PAGE}`);
  if (!found) return;
  const { group } = found;
  const members = el("ul", { class: "members" }, ...found.members.map(member));
  openDialog([el("h2", { id: "group-title", class: "unseen", dir: "auto" }, titleOf(group)), nameField(group)],
    el("p", { class: "hint" }, `${plural(group.size, "item")}: ${knownLine(group)}. Typical ones come first.`),
    mendTools(group, members),
    members,
    ...moreButton(members, group.size, (left) => `Show ${Math.min(PAGE, left)} more`,
      async (at) => (await look(`group/${id}?limit=${PAGE}&offset=${at}`))?.members.map(member)));
}

const titleOf = (group) => group.name || "A group without a name";

function member(thing) {
  return selectable(thing,
    thing.is_marked ? el("span", { class: "hint" }, "you marked it") : null,
    button("Ask me about it", () => doubt(thing), { class: "quiet doubt", ariaLabel: `${thing.title}: ask me` }));
}

export async function doubt(thing) {
  const state = await carryOut("misfit", { row: thing.row });
  if (!state) return;
  byId("group-dialog").close();
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
    if (byId("group-dialog").open) byId("group-title").textContent = titleOf(group);
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
