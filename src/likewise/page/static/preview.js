// Hover and focus on a small group, or on a point of the map, show a picture larger, and a name.

import { app } from "./app.js";
import { count, el, fill, keyMark } from "./dom.js";
import { middleOf, pictureAt, tile } from "./things.js";

const DELAY = 120;

const box = el("div", { class: "preview", ariaHidden: "true", hidden: true });
let timer = 0;

export function hidePreview() {
  clearTimeout(timer);
  box.hidden = true;
}

/** Do something when the pointer has rested for a moment. @param {() => unknown} act */
export function soon(act, delay = DELAY) {
  clearTimeout(timer);
  timer = window.setTimeout(act, delay);
}

/** Show an item, and its group in words, above or below a place. @type {(thing: Thing | undefined, group: Keyed | null, words: string, at: { left: number, top: number, width: number, bottom: number }) => void} */
export function showPreview(thing, group, words, at) {
  fill(box, thing && (thing.image ? pictureAt(middleOf(thing.image), thing) : tile(thing, "eager")),
    el("p", {}, group?.key && [keyMark(group), " "], el("b", { dir: "auto" }, words), group && el("span", { class: "hint" }, ` ${count(group.size)}`)));
  document.body.append(box);
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, at.left + at.width / 2 - width / 2))}px`;
  box.style.top = `${at.top > height + 8 ? at.top - height - 8 : at.bottom + 8}px`;
}

export function startPreviews(/** @type {HTMLElement} */ stage) {
  /** @param {any} event */
  const show = ({ target, type }) => {
    const one = target.closest?.(".small");
    if (!one) return;
    soon(() => {
      const question = app.state.question;
      const group = question?.kind === "choice" && question.groups.find((other) => String(other.group) === one.dataset.group);
      if (!group || !one.isConnected) return;
      const about = one.querySelector(".option-about")?.textContent;
      showPreview(group.shown[0], group, group.name || about || "", one.getBoundingClientRect());
    }, type === "focusin" ? 0 : DELAY);
  };
  stage.addEventListener("pointerover", (event) => event.pointerType === "mouse" && show(event));
  stage.addEventListener("focusin", (event) => (/** @type {any} */ (event.target)).matches?.(":focus-visible") && show(event));
  stage.addEventListener("pointerout", hidePreview);
  stage.addEventListener("focusout", hidePreview);
  document.addEventListener("keydown", hidePreview);
}
