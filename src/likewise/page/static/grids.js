// Lists that Tab enters once. Arrows, Home and End go from one entry to the next, as in a table.

const FOCUSABLE = "a, button, input, summary, select";

/** The entries of `list` can be reached by arrows; in each, `main` gets the focus. With Shift, `extend` is told from where to where.
 * @type {(list: HTMLElement, main: string, extend?: (from: HTMLElement, to: HTMLElement) => void) => void} */
export function roving(list, main, extend) {
  /** @type {any} */
  let current = null;
  const entries = () => /** @type {any[]} */ ([...list.children].filter((one) => one.querySelector(main)));
  const reach = (/** @type {any} */ entry, isIt = true) => {
    for (const node of entry?.querySelectorAll(FOCUSABLE) ?? []) node.tabIndex = isIt ? 0 : -1;
  };
  const go = (/** @type {any} */ entry) => {
    if (entry !== current) reach(current, false);
    reach(entry);
    current = entry;
  };
  const settle = () => {
    const all = entries();
    for (const entry of all) reach(entry, false);
    go(all.includes(current) ? current : all[0]);
  };
  settle();
  new MutationObserver(settle).observe(list, { childList: true });
  list.addEventListener("focusin", (/** @type {any} */ { target }) => {
    const entry = entries().find((one) => one.contains(target));
    if (entry) go(entry);
  });
  list.addEventListener("keydown", (/** @type {any} */ event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input:not([type=checkbox]), .places, .revise")) return;
    const all = entries();
    const at = all.indexOf(current);
    const to = all[stepTo(key, at, all)];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.shiftKey) extend?.(all[at], to);
    to.querySelector(main).focus();
  });
}

/** Where a key leads from a place among entries; undefined for other keys. @type {(key: string, at: number, all: HTMLElement[]) => any} */
function stepTo(key, at, all) {
  const second = all.findIndex((one) => one.offsetTop !== all[0].offsetTop);
  const [columns, last] = [second < 0 ? all.length : second, all.length - 1];
  // The last line may be shorter than the one above it.
  const below = Math.floor(at / columns) < Math.floor(last / columns) ? Math.min(at + columns, last) : at;
  return new Map([["ArrowLeft", Math.max(0, at - 1)], ["ArrowRight", Math.min(last, at + 1)], ["ArrowUp", at < columns ? at : at - columns], ["ArrowDown", below], ["Home", 0], ["End", last]]).get(key);
}
