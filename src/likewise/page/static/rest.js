// While further items are described in the background: how many the session is about so far.

import { complain, reload } from "./app.js";
import { get } from "./api.js";
import { byId } from "./dom.js";

const PAUSE = 2000;

/** Look again and again until all have joined; what is on the screen is then about all of them. */
export async function watchRest() {
  const { rest } = await get("rest");
  const line = byId("rest");
  const hadRest = !line.hidden;
  line.hidden = !rest;
  line.textContent = rest?.line ?? "";
  if (rest && !rest.error) setTimeout(() => watchRest().catch(complain), PAUSE);
  if (!rest && hadRest) await reload();
}
