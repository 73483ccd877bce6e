// Start: which view is shown, and what listens.

import { app, complain, hideNotice, onState, reload, source } from "./app.js";
import { refreshStrip, startAsking } from "./ask.js";
import { byId } from "./dom.js";
import { showHistory } from "./history.js";
import { startKeys } from "./keys.js";
import { startMending } from "./mend.js";
import { showMap } from "./map.js";
import { showResult } from "./result.js";
import { distances, letters, pairsOnly } from "./settings.js";

const VIEWS = ["ask", "result", "map", "history"];

function view() {
  const name = location.hash.slice(1).split("/")[0];
  return VIEWS.includes(name) && (name !== "map" || app.state?.has_map) ? name : "ask";
}

async function show() {
  let name = view();
  // With nothing left to ask there is no question to show.
  if (name === "ask" && app.state.is_done) name = "result";
  byId("to-map").hidden = !app.state.has_map;
  for (const other of VIEWS) {
    byId(`view-${other}`).hidden = other !== name;
    const link = byId(`to-${other}`);
    if (other === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (document.body.dataset.view !== name) scrollTo(0, 0);
  document.body.dataset.view = name;
  if (name === "result") await showResult();
  if (name === "map") await showMap();
  if (name === "history") await showHistory(Number(location.hash.split("/")[1]) || undefined);
  title(name);
}

function title(/** @type {string} */ name) {
  const words = name === "ask" ? `Question ${app.state.question?.number}` : byId(`to-${name}`).textContent;
  document.title = `${words} · ${source()} · likewise`;
}

onState((state, before) => {
  if (!before) return null;
  const name = view();
  if (name === "ask" && state.is_done !== before.is_done) return show();
  if (name === "ask" && !state.is_done) return title("ask");
  if (name === "result" || name === "ask") return showResult();
  return name === "history" ? showHistory() : null;
});

document.addEventListener("named", () => {
  refreshStrip().catch(complain);
  if (!byId("view-result").hidden && byId("group-dialog").open) showResult().catch(complain);
});

function startHelp() {
  for (const [id, setting] of /** @type {[string, { isOn: boolean }][]} */ ([["letters", letters], ["pairs-only", pairsOnly], ["distances", distances]])) {
    byId(id).checked = setting.isOn;
    byId(id).addEventListener("change", () => {
      setting.isOn = byId(id).checked;
      reload().catch(complain);
    });
  }
  byId("help-button").addEventListener("click", () => byId("help-dialog").showModal());
}

// The cookie is set, so the token is no longer needed in the address.
if (new URLSearchParams(location.search).has("token")) {
  history.replaceState(null, "", location.pathname + location.hash);
}
byId("notice-close").addEventListener("click", hideNotice);
addEventListener("hashchange", () => app.state && show().catch(complain));
// Somebody else may have answered meanwhile.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && app.state && !app.isBusy) reload().catch(complain);
});
startHelp();
startAsking();
startMending();
startKeys(view);
reload().then(show).catch(complain);
