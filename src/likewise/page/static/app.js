// What all views share: where the session is, and what to do when something goes wrong.

import { get, post } from "./api.js";
import { byId } from "./dom.js";

export const app = { state: null, isBusy: false, wantsDistance: false };

const listeners = [];
export const onState = (listener) => listeners.push(listener);

// Ends when every view that is open shows the new state.
export async function take(state) {
  const before = app.state;
  // A reply with the next question comes before how far the session is; until then the last is shown.
  app.state = state = { ...before, ...state };
  document.body.dataset.position = state.position;
  await Promise.all(listeners.map((listener) => listener(state, before)));
}

// While something is fetched or saved, the page says so; what is seen may be about to change.
let nUnderWay = 0;

function underWay(n) {
  nUnderWay += n;
  byId("main").ariaBusy = String(nUnderWay > 0);
}

// How far the session is; the position stays that of the question on the screen.
export async function fetchProgress(state, signal) {
  const { progress, outlook } = (await look("progress", signal)) ?? state;
  return Object.assign(state, { progress, outlook });
}

export async function reload() {
  await take(await get(app.wantsDistance ? "query?distance=1" : "query"));
}

// Do one change at a time; a key pressed meanwhile is not an answer to a question nobody has seen.
export async function change(path, body) {
  if (app.isBusy) return null;
  app.isBusy = true;
  underWay(1);
  try {
    const reply = await post(path, { position: app.state.position, ...body });
    app.state.position = reply.position;
    hideNotice();
    return reply;
  } catch (error) {
    await complain(error);
    return null;
  } finally {
    app.isBusy = false;
    underWay(-1);
  }
}

export async function complain(error) {
  if (error.name === "AbortError") return;
  if (error.isStale) {
    await reload().catch(complain);
    notice("Somebody answered in another window, so your last click was not saved. Here is where the session is now.");
  } else if (error.isGone) {
    notice("The server does not answer. All answers up to here are saved. Start the same command again; this page goes on by itself.");
    wait();
  } else {
    notice(error.message);
    if (error.status === undefined) throw error;
  }
}

let waiting = null;

function wait() {
  waiting ??= setTimeout(async () => {
    waiting = null;
    try {
      await reload();
      notice("The server is back. Nothing was lost.");
    } catch (error) {
      if (error.isGone) wait();
      else await complain(error);
    }
  }, 1000);
}

// A message is where the eye is: in the dialog that is open, else at the top of what is seen.
const box = byId("notice");

export function notice(text) {
  const dialog = document.querySelector("dialog[open]");
  if (dialog) dialog.prepend(box);
  else document.querySelector("header.top").after(box);
  box.querySelector("p").textContent = text;
  box.hidden = false;
}

export function hideNotice() {
  box.hidden = true;
}

// A dialog that closes leaves its message to the page.
byId("group-dialog").addEventListener("close", () => document.querySelector("header.top").after(box));

// For what is fetched to be looked at: an error is told, and the view stays as it was.
export async function look(path, signal) {
  underWay(1);
  try {
    return await get(path, signal);
  } catch (error) {
    await complain(error);
    return null;
  } finally {
    underWay(-1);
  }
}
