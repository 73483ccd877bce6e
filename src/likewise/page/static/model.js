// What a language model that answers, too, has done: a line that follows while it works.

import { app, complain, fetchProgress, reload } from "./app.js";
import { get } from "./api.js";
import { showProgress } from "./ask.js";
import { el, every } from "./dom.js";

const PAUSE = 3000;

/** What is said of a model in full. @param {NonNullable<Progress["model"]>} model */
const words = ({ line, warning }) => `${[line, warning].filter(Boolean).join(". ")}.`;

/** Its place in a view, or nothing where no model answers. @param {Progress["model"]} model */
export const aboutModel = (model) => model && el("p", { class: "hint about-model", dir: "auto" }, words(model));

/** Look every few seconds until it has ended; what is learned from its answers is said then. */
export async function watchModel() {
  if (!app.state?.model?.is_working) return;
  // That the server is gone, a change or a look at something will say.
  const reply = await get("model").catch(() => null);
  if (reply?.model) {
    app.state.model = reply.model;
    if (!reply.model.is_working) return void (await hasEnded().catch(complain));
    showProgress(app.state);
    for (const line of every(".about-model")) line.textContent = words(reply.model);
  }
  setTimeout(watchModel, PAUSE);
}

/** There may be something to ask again. */
async function hasEnded() {
  if (app.state.is_done) return reload();
  showProgress(await fetchProgress(app.state));
  for (const line of every(".about-model")) if (app.state.model) line.textContent = words(app.state.model);
}
