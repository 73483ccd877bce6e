// The names of a column that may be one, all on one screen: tick, change what they become, merge.

import { change, look, notice, reload, underWay } from "./app.js";
import { button, byId, count, el, every, fill, moreButton, plural } from "./dom.js";
import { roving } from "./grids.js";

const PAGE = 50;
const BOUNDS = [90, 80, 70, 60, 50, 40];
let least = 50;

export async function showNames() {
  const reply = await look(`names?limit=${PAGE}&least=${least}`);
  if (!reply) return;
  const list = el("ul", { class: "alike", ariaLabel: "Names that may be one" }, reply.names.map(card));
  roving(list, ".merge");
  const bound = el("select", { ariaLabel: "How alike the names are at least", on: { change: () => {
    least = Number(bound.value);
    return showNames();
  } } }, BOUNDS.map((share) => el("option", { value: share, selected: share === least }, `at least ${share}% alike`)));
  const all = el("input", { type: "checkbox", on: { change: () => {
    for (const box of every(".alike .merge")) box.checked = all.checked;
    told();
  } } });
  const go = button("", () => mergeTicked(), { class: "primary", id: "merge-names" });
  const told = () => {
    const n = every(".alike .merge:checked").length;
    fill(go, n ? `Merge the ${count(n)} ticked` : "Merge what is ticked");
    go.disabled = !n;
  };
  fill(byId("view-names"),
    el("div", { class: "line" }, el("h1", { id: "names-title" }, "Names that may be one"), bound, el("a", { href: "#ask", class: "plain" }, "Two at a time")),
    el("p", { class: "hint" }, reply.n ? `${plural(reply.n, "candidate")}, the most alike first. Tick what is right, untick a name that is not part of it, change what they become.` : "No further names are that alike."),
    reply.n > 0 && el("div", { class: "line names-tools" }, el("label", { class: "line" }, all, "Tick all"), go),
    list,
    moreButton(list, reply.n, "Show more names", async (at) => (await look(`names?limit=${PAGE}&offset=${at}&least=${least}`))?.names.map(card)));
  list.addEventListener("change", told);
  told();
}

/** @param {Alike} alike */
function card({ target, parts }) {
  const total = parts.flatMap(({ names }) => names).reduce((n, { count: some }) => n + some, 0);
  const merge = el("input", { type: "checkbox", class: "merge", ariaLabel: `Merge into ${target}` });
  const name = el("input", { type: "text", class: "target", value: target, maxLength: 200, ariaLabel: `What ${target} and the names like it become`, autocomplete: "off", dir: "auto" });
  // Who changes what they become means to merge them.
  name.addEventListener("input", () => tick(merge));
  name.addEventListener("keydown", (/** @type {KeyboardEvent} */ { key }) => key === "Enter" && decide([item]));
  const ways = parts.map(({ row, names }) => el("li", {}, el("label", {}, el("input", { type: "checkbox", class: "part", value: row, checked: true }),
    el("span", {}, names.map(({ name: one, count: n }, k) => [k > 0 && el("span", { class: "hint" }, " with "), el("span", { dir: "auto" }, one), el("span", { class: "hint" }, ` ×${count(n)}`)])))));
  const item = el("li", {},
    el("label", { class: "line" }, merge, el("span", { class: "unseen" }, "Merge")),
    el("ul", { class: "parts-of" }, ways),
    el("div", { class: "becomes" }, el("span", { ariaHidden: "true" }, "→"), name, el("span", { class: "hint" }, plural(total, "row"))),
    button("Keep apart", () => decide([item], false), { class: "quiet", ariaLabel: `Keep ${target} and the names like it apart` }));
  return item;
}

const tick = (/** @type {any} */ box) => {
  box.checked = true;
  box.dispatchEvent(new Event("change", { bubbles: true }));
};

const mergeTicked = () => decide(every(".alike > li").filter((item) => item.querySelector(".merge").checked));

/** One after the other, so that each decision is saved before the next. @type {(items: any[], areOne?: boolean) => Promise<unknown>} */
async function decide(items, areOne = true) {
  let n = 0;
  await underWay(async () => {
    for (const item of items) {
      const rows = [...item.querySelectorAll(".part:checked")].map((box) => Number(box.value));
      if (rows.length < 2) continue;
      if (!(await change("names", { rows, are_one: areOne, name: item.querySelector(".target").value }))) break;
      n += 1;
    }
  });
  if (!n) return notice("Two names or more have to be ticked.");
  await reload();
  return notice(areOne ? `Merged ${plural(n, "candidate")}. Undo takes back one at a time.` : "Kept apart. Undo takes it back.");
}
