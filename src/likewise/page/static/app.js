// What all views share: where the session is, and what to do when something goes wrong.

import { ApiError, call, get } from "./api.js";
import { byId, count, el, every, fill, first } from "./dom.js";
import { distances } from "./settings.js";

/** Where the session is, which is not known at first, and the change that is being saved. @type {{ state: State, saving: Promise<any> | null }} */
export const app = { state: /** @type {any} */ (null), saving: null };

/** @typedef {(state: State, before: State | null) => unknown} Listener */
/** @type {Listener[]} */
const listeners = [];
export const onState = (/** @type {Listener} */ listener) => listeners.push(listener);

/** Ends when every view that is open shows the new state. @param {Partial<State>} reply */
export async function take(reply) {
  const before = app.state;
  // A reply with the next question comes before how far the session is; until then the last is shown.
  const state = { ...before, ...reply };
  app.state = state;
  document.body.dataset.position = String(state.position);
  document.body.classList.toggle("looks-only", state.you?.can_answer === false);
  byId("you").textContent = state.you ? `${state.you.name}${state.you.can_answer ? "" : ", looking only"}` : "";
  await Promise.all(listeners.map((listener) => listener(state, before)));
}

let nUnderWay = 0;

/** While something is fetched or saved, the page says so; what is seen may be about to change. @type {<T>(task: () => Promise<T>) => Promise<T>} */
export async function underWay(task) {
  nUnderWay += 1;
  byId("main").ariaBusy = "true";
  try {
    return await task();
  } finally {
    nUnderWay -= 1;
    byId("main").ariaBusy = String(nUnderWay > 0);
  }
}

/** Fetch something to show: after an error the view stays as it was, and the error is shown.
 * @type {<Path extends string>(path: Path, signal?: AbortSignal) => Promise<Reply<Path> | null>} */
export const look = (path, signal) => underWay(() => get(path, signal).catch(complain));

/** How far the session is; the position stays that of the question on the screen. @type {(state: State, signal?: AbortSignal) => Promise<State>} */
export async function fetchProgress(state, signal) {
  const { position: _, ...now } = (await look("progress", signal)) ?? state;
  return Object.assign(state, now);
}

export async function reload() {
  const state = await get(distances.isOn ? "query?distance=1" : "query");
  // An answer may have been given meanwhile.
  if (!app.state || state.position >= app.state.position) await take(state);
}

// -- changes -----------------------------------------------------------------------------------

/** Do one change at a time: a key pressed meanwhile would answer a question nobody has seen. The reply is null if it was not done.
 * @type {(path: string, body?: any) => Promise<any>} */
export async function change(path, body = {}) {
  if (app.saving) return say("The previous change is still being saved, so this one was ignored.");
  app.saving = underWay(() => save(path, body));
  return app.saving;
}

/** A change whose reply is where the session is then. @type {typeof change} */
export async function carryOut(path, body) {
  const state = await change(path, body);
  if (state) await take(state);
  return state;
}

/** A change that does not depend on the question on the screen waits for its turn. @type {typeof change} */
export async function changeInTurn(path, body) {
  while (app.saving) await app.saving;
  return change(path, body);
}

// A slow change can be canceled: it is undone as soon as it is done.
const PATIENCE = 400;
let isCanceled = false;

/** @type {typeof change} */
async function save(path, body) {
  isCanceled = false;
  const soon = setTimeout(() => say("Saving …"), PATIENCE);
  try {
    const { position } = app.state;
    const reply = await call(path, { position, ...body });
    app.state.position = reply.position;
    notice("");
    if (!isCanceled || reply.position === position) return reply;
    await take(await call(path === "undo" ? "redo" : "undo", { position: reply.position }));
    notice("Canceled. Nothing has changed.");
  } catch (error) {
    await complain(error);
  } finally {
    clearTimeout(soon);
    say("");
    app.saving = null;
  }
  return null;
}

byId("cancel").addEventListener("click", () => {
  isCanceled = true;
  say("It will be undone as soon as it is saved.");
});

// -- messages ----------------------------------------------------------------------------------

const [noticeBox, workingBox] = [byId("notice"), byId("working")];

/** Messages are in the dialog that is on top, else at the top of the visible part of the page. */
function bringMessages() {
  const dialog = every("dialog[open]").at(-1);
  if (dialog) dialog.prepend(noticeBox, workingBox);
  else first("header.top").after(noticeBox, workingBox);
}
for (const dialog of every("dialog")) dialog.addEventListener("close", bringMessages);
// What was shown last would else stand there until the next content has come.
for (const name of ["group", "item"]) byId(`${name}-dialog`).addEventListener("close", (/** @type {any} */ { target }) => fill(target));

/** Show a message, once while it is the same; an empty one hides the last. @type {(box: any, text: string) => null} */
function tell(box, text) {
  if (box.firstElementChild.textContent === text) return null;
  if (text) bringMessages();
  box.hidden = !text;
  box.firstElementChild.textContent = text;
  return null;
}
export const notice = (/** @type {string} */ text) => tell(noticeBox, text);
const say = (/** @type {string} */ text) => tell(workingBox, text);
byId("notice-close").addEventListener("click", () => notice(""));

/** Open a dialog with a heading, a button that closes it, and some content. @type {(name: "group" | "item", head: any, ...content: any[]) => void} */
export function openDialog(name, head, ...content) {
  const dialog = byId(`${name}-dialog`);
  const close = el("form", { method: "dialog" }, el("button", { class: "plain", autofocus: true }, "Close"));
  fill(dialog, el("header", {}, head, close), content);
  if (!dialog.open) dialog.showModal();
  // They may have been in it.
  if (!noticeBox.isConnected) bringMessages();
}

export async function complain(/** @type {any} */ error) {
  if (error.name === "AbortError") return null;
  if (error.isStale) {
    await reload().catch(complain);
    notice("Somebody answered in another window, so your last click was not saved. Here is where the session is now.");
  } else if (error.isGone && app.state) {
    notice("The server does not answer. All answers up to here are saved. Start the same command again; this page goes on by itself.");
    wait();
  } else if (error.isGone || error.isClosed) {
    showOpening(error);
    wait();
  } else {
    notice(error.message);
    if (!(error instanceof ApiError)) throw error;
  }
  return null;
}

let waiting = 0;

function wait() {
  clearTimeout(waiting);
  waiting = setTimeout(() => retry().catch(complain), app.state ? 1000 : 300);
}

async function retry() {
  // A page that was served before the session was open knows nothing of its items.
  if (!app.state) return void get("query").then(() => location.reload()).catch(complain);
  await reload();
  return void notice("The server is back. Nothing was lost.");
}

export const source = () => first(".source").firstChild.textContent.trim();

/** Before there is a question: what is being done, or why there will be none. @param {ApiError} error */
function showOpening({ message, isGone, reply: { step, done, of, left } }) {
  if (app.state) return void notice(step ? `The server is back. It opens the session: ${step}.` : message);
  const bar = byId("opening-bar");
  // The reason stays when the server has ended.
  if (isGone && bar.hidden) return;
  byId("view-opening").hidden = false;
  byId("opening-title").textContent = `${step ? "Opening" : "Cannot open"} ${source()}`;
  byId("opening-step").textContent = step ?? (isGone ? "The command has ended; the terminal says why." : message);
  byId("opening-share").textContent = of ? `${count(done)} of ${count(of)}${left ? `, ${left}` : ""}` : "";
  byId("opening-then").textContent = step ? "The first question appears here by itself." : "When the problem is fixed, start the command again: this page goes on by itself.";
  bar.hidden = !step;
  if (of) Object.assign(bar, { max: of, value: done });
  else bar.removeAttribute("value");
}
