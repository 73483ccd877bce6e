// While further items are described in the background: how many the session is about so far.

import { reload } from "./app.js";
import { get } from "./api.js";
import { byId, first } from "./dom.js";

const PAUSE = 2000;
/** What was said last. @type {Rest | null} */
let last = null;

/** Look again and again until all have joined; what is on the screen is then about all of them. */
export async function watchRest() {
  // That the server is gone, a change or a look at something will say.
  const reply = await get("rest").catch(() => ({ rest: last }));
  const line = byId("rest");
  const text = reply.rest?.line ?? "";
  if (line.textContent !== text) line.textContent = text;
  line.hidden = !text;
  if (reply.rest) setTimeout(watchRest, PAUSE);
  else if (last) {
    const counted = first(".source span");
    counted.textContent = counted.textContent.replace(/\d+/, String(last.n));
    await reload();
  }
  last = reply.rest;
}
