// Every answer with its two items. A click changes it, after saying what that keeps and drops.

import { change, look, take } from "./app.js";
import { byId, el, plural, SIGNS, WORDS } from "./dom.js";
import { tile } from "./things.js";

const PAGE = 100;

export async function showHistory(wanted) {
  const view = byId("view-history");
  const query = wanted ? `history?limit=${PAGE}&before=${wanted + 11}` : `history?limit=${PAGE}`;
  const found = await look(query);
  if (!found) return;
  const list = el("ol", { class: "log" }, ...found.events.map(entry));
  view.replaceChildren(
    el("h1", { id: "history-title" }, "What you answered"),
    el("p", { class: "hint" }, found.n ? `${plural(found.n, "answer")}, the latest first. Click one to change it; you will see what that does before it is done.` : "Nothing yet."),
    list);
  addMore(view, list, found.events);
  if (wanted) list.querySelector(`[data-number="${wanted}"] button`)?.click();
}

function addMore(view, list, events) {
  const last = events.at(-1)?.number ?? 1;
  if (last <= 1) return;
  const button = el("button", { type: "button", class: "plain" }, "Earlier ones");
  button.addEventListener("click", async () => {
    button.remove();
    const next = await look(`history?limit=${PAGE}&before=${last}`);
    if (!next) return;
    list.append(...next.events.map(entry));
    addMore(view, list, next.events);
  });
  view.append(button);
}

function entry(event) {
  const panel = el("div", { class: "revise", hidden: true });
  const button = el("button", { type: "button", class: "event", "aria-expanded": "false" },
    el("span", { class: "number" }, `${event.number}`),
    tile(event.left),
    el("span", { class: `said ${event.answer}` }, el("span", { class: "sign", ariaHidden: "true" }, SIGNS[event.answer]), ` ${WORDS[event.answer]}`),
    tile(event.right),
    el("span", { class: "titles", dir: "auto" }, `${event.left.title} – ${event.right.title}`, event.source === "given" ? el("i", {}, " carried over or given") : null));
  button.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    button.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) panel.replaceChildren(el("p", {}, "Change it to"), ...choices(event, panel));
  });
  return el("li", { "data-number": event.number }, button, panel);
}

function choices(event, panel) {
  return ["same", "different", "unsure"].filter((word) => word !== event.answer).map((word) => {
    const button = el("button", { type: "button", class: "plain" }, `${SIGNS[word]} ${WORDS[word]}`);
    button.addEventListener("click", () => preview(event, word, panel));
    return button;
  });
}

async function preview(event, word, panel) {
  const reply = await change("revise", { number: event.number, answer: word });
  if (!reply) return;
  const apply = el("button", { type: "button", class: "primary" }, "Apply");
  const cancel = el("button", { type: "button", class: "plain" }, "Leave it");
  cancel.addEventListener("click", () => panel.replaceChildren(el("p", {}, "Change it to"), ...choices(event, panel)));
  apply.addEventListener("click", async () => {
    const state = await change("revise", { number: event.number, answer: word, apply: true });
    if (!state) return;
    take(state);
    await showHistory();
  });
  const dropped = reply.preview.dropped;
  panel.replaceChildren(
    el("p", { class: "words", role: "status" }, `This ${reply.preview.words}.`),
    dropped.length ? el("ul", { class: "dropped" }, ...dropped.map((e) => el("li", { dir: "auto" }, `${e.number}: ${e.left.title} ${SIGNS[e.answer]} ${e.right.title}`))) : "",
    apply, cancel);
  apply.focus();
}
