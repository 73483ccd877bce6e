// What all views share: where the session is, and what to do when something goes wrong.

import { get, post } from "./api.js";
import { byId, el, first } from "./dom.js";
import { distances } from "./settings.js";

/** Where the session is, which is not known at first. @type {{ state: State, isBusy: boolean }} */
export const app = { state: /** @type {any} */ (null), isBusy: false };

/** @typedef {(state: State, before: State | null) => unknown} Listener */
/** @type {Listener[]} */
const listeners = [];
export const onState = (/** @type {Listener} */ listener) => listeners.push(listener);

/** Ends when every view that is open shows the new state. @param {Partial<State>} reply */
export async function take(reply) {
  const before = app.state;
  // A reply with the next question comes before how far the session is; until then the last is shown.
  app.state = { ...before, ...reply };
  const { state } = app;
  document.body.dataset.position = String(state.position);
  await Promise.all(listeners.map((listener) => listener(state, before)));
}

// While something is fetched or saved, the page says so; what is seen may be about to change.
let nUnderWay = 0;

export function underWay(/** @type {1 | -1} */ n) {
  nUnderWay += n;
  byId("main").ariaBusy = String(nUnderWay > 0);
}

/** How far the session is; the position stays that of the question on the screen. @type {(state: State, signal?: AbortSignal) => Promise<State>} */
export async function fetchProgress(state, signal) {
  const { progress, outlook, completeness } = (await look("progress", signal)) ?? state;
  return Object.assign(state, { progress, outlook, completeness });
}

export async function reload() {
  const state = await get(distances.isOn ? "query?distance=1" : "query");
  // An answer may have been given meanwhile.
  if (!app.state || state.position >= app.state.position) await take(state);
}

/** @type {Promise<any> | null} */
let lastChange = null;

// Do one change at a time: a key pressed meanwhile would answer a question nobody has seen.
/** @type {(path: string, body?: any) => Promise<any>} */
export async function change(path, body) {
  if (!app.isBusy) {
    lastChange = save(path, body);
    return lastChange;
  }
  say("The last one is still being saved, so this was not taken.");
  return null;
}

// A change whose reply is where the session is then; null if it was not done.
/** @type {(path: string, body?: any) => Promise<any>} */
export async function carryOut(path, body = {}) {
  const state = await change(path, body);
  if (state) await take(state);
  return state;
}

// A change that does not depend on the question on the screen waits for its turn instead.
/** @type {(path: string, body?: any) => Promise<any>} */
export async function changeInTurn(path, body) {
  while (app.isBusy) await lastChange;
  return change(path, body);
}

/** The reply to a change, or null. @type {(path: string, body: any) => Promise<any>} */
async function save(path, body) {
  app.isBusy = true;
  isCanceled = false;
  underWay(1);
  const soon = setTimeout(() => say("Saving …"), PATIENCE);
  try {
    const { position } = app.state;
    const reply = await post(path, { position, ...body });
    app.state.position = reply.position;
    hideNotice();
    if (!isCanceled || reply.position === position) return reply;
    await take(await post(path === "undo" ? "redo" : "undo", { position: reply.position }));
    notice("Canceled: it is as it was before.");
  } catch (/** @type {any} */ error) {
    await complain(error);
  } finally {
    clearTimeout(soon);
    working.hidden = true;
    app.isBusy = false;
    underWay(-1);
  }
  return null;
}

// A slow change can be canceled: it is undone as soon as it is done.
const PATIENCE = 400;
const working = byId("working");
let isCanceled = false;

function say(/** @type {string} */ text) {
  bring(working);
  working.querySelector("span").textContent = text;
  working.hidden = false;
}

byId("cancel").addEventListener("click", () => {
  isCanceled = true;
  say("It will be taken back when it is done.");
});

export async function complain(/** @type {any} */ error) {
  if (error.name === "AbortError") return;
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
    if (error.status === undefined) throw error;
  }
}

/** Before there is a question: what is being done, or why there will be none. @param {import("./api.js").ApiError} error */
function showOpening({ message, isGone, reply: { step, done, of } }) {
  if (app.state) return notice(step ? `The server is back. It opens the session: ${step}.` : message);
  const bar = byId("opening-bar");
  // The reason stays when the server has ended.
  if (isGone && bar.hidden) return undefined;
  byId("view-opening").hidden = false;
  byId("opening-title").textContent = `${step ? "Opening" : "Cannot open"} ${source()}`;
  byId("opening-step").textContent = step ?? (isGone ? "The command has ended; the terminal says why." : message);
  byId("opening-share").textContent = of ? `${done.toLocaleString("en")} of ${of.toLocaleString("en")}` : "";
  byId("opening-then").textContent = step ? "The first question appears here by itself." : "When it is mended, start the command again: this page goes on by itself.";
  bar.hidden = !step;
  if (of) Object.assign(bar, { max: of, value: done });
  else bar.removeAttribute("value");
  return undefined;
}

export const source = () => first(".source").firstChild.textContent.trim();

let isWaiting = false;

function wait() {
  if (isWaiting) return;
  isWaiting = true;
  setTimeout(async () => {
    isWaiting = false;
    try {
      // A page that was served before the session was open knows nothing of its items.
      if (!app.state) {
        await get("query");
        return location.reload();
      }
      await reload();
      notice("The server is back. Nothing was lost.");
    } catch (/** @type {any} */ error) {
      if (error.isGone && app.state) wait();
      else await complain(error);
    }
    return undefined;
  }, app.state ? 1000 : 300);
}

// A message appears in the dialog that is open, else at the top of the visible part of the page.
const box = byId("notice");

function bring(/** @type {Node} */ node) {
  const dialog = first("dialog[open]");
  if (dialog) dialog.prepend(node);
  else first("header.top").after(node);
}

export function notice(/** @type {string} */ text) {
  bring(box);
  box.querySelector("p").textContent = text;
  box.hidden = false;
}

export function hideNotice() {
  box.hidden = true;
}

// A dialog that closes leaves its messages to the page.
byId("group-dialog").addEventListener("close", () => first("header.top").after(box, working));

/** @type {(head: Node[], ...content: any[]) => void} */
export function openDialog(head, ...content) {
  const dialog = byId("group-dialog");
  const close = el("form", { method: "dialog" }, el("button", { class: "plain", autofocus: true }, "Close"));
  dialog.replaceChildren(box, working, el("header", {}, ...head, close), ...content);
  if (!dialog.open) dialog.showModal();
}

// Fetch something to show: after an error the view stays as it was, and the error is shown.
/** @type {<Path extends string>(path: Path, signal?: AbortSignal) => Promise<Reply<Path> | null>} */
export async function look(path, signal) {
  underWay(1);
  try {
    return await get(path, signal);
  } catch (/** @type {any} */ error) {
    await complain(error);
    return null;
  } finally {
    underWay(-1);
  }
}
