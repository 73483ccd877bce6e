// Start: which view is shown, and what listens.

import { app, complain, onState, reload, source } from "./app.js";
import { refreshStrip, startAsking } from "./ask.js";
import { byId } from "./dom.js";
import { showHistory } from "./history.js";
import { startKeys } from "./keys.js";
import { startMending } from "./mend.js";
import { showMap } from "./map.js";
import { watchModel } from "./model.js";
import { showNames } from "./names.js";
import { showResult } from "./result.js";
import { watchRest } from "./rest.js";
import { distances, letters, pairsOnly } from "./settings.js";

const VIEWS = ["names", "ask", "result", "map", "history"];
// The names of a column are first seen all at once.
const hasNames = document.body.dataset.kind === "names";

/** The view of the address; where there is nothing left to ask, there is no question to show. */
function view() {
  const name = location.hash.slice(1).split("/")[0] || (hasNames ? "names" : "");
  const isThere = VIEWS.includes(name) && (name !== "map" || app.state?.has_map) && (name !== "names" || hasNames);
  return isThere && name !== "ask" ? name : app.state?.is_done ? "result" : "ask";
}

/** @param {boolean} [isAsked] - by a link, which may name the answer to open in the history */
async function show(isAsked = true) {
  const name = view();
  byId("to-map").hidden = !app.state.has_map;
  byId("to-names").hidden = !hasNames;
  for (const other of VIEWS) {
    byId(`view-${other}`).hidden = other !== name;
    byId(`to-${other}`).ariaCurrent = other === name ? "page" : null;
  }
  if (document.body.dataset.view !== name) scrollTo(0, 0);
  document.body.dataset.view = name;
  if (name === "names") await showNames();
  if (name === "result") await showResult();
  if (name === "map") await showMap();
  if (name === "history") await showHistory(isAsked ? Number(location.hash.split("/")[1]) : 0);
  document.title = `${name === "ask" ? `Question ${app.state.question?.number}` : byId(`to-${name}`).textContent} · ${source()} · likewise`;
}

onState((_, before) => before && view() !== "map" && show(false));

document.addEventListener("named", () => {
  refreshStrip().catch(complain);
  if (!byId("view-result").hidden && byId("group-dialog").open) showResult().catch(complain);
});

/** @type {[string, { isOn: boolean }][]} */
const SETTINGS = [["letters", letters], ["pairs-only", pairsOnly], ["distances", distances]];
for (const [id, setting] of SETTINGS) {
  byId(id).checked = setting.isOn;
  byId(id).addEventListener("change", () => {
    setting.isOn = byId(id).checked;
    reload().catch(complain);
  });
}
byId("help-button").addEventListener("click", () => byId("help-dialog").showModal());

// The cookie is set, so the token is no longer needed in the address.
if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", location.pathname + location.hash);
addEventListener("hashchange", () => app.state && show().catch(complain));
// Somebody else may have answered meanwhile.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && app.state && !app.saving) reload().catch(complain);
});
startAsking();
startMending();
startKeys(view);
reload().then(() => show()).then(() => Promise.all([watchRest(), watchModel()])).catch(complain);
