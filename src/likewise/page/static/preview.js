// Hover and focus on a small group show its picture larger, and its name.

import { app } from "./app.js";
import { count, el, fill, keyMark } from "./dom.js";
import { smallPicture, tile, middleOf } from "./things.js";
import { showPicture } from "./api.js";

const DELAY = 120;

export function startPreviews(/** @type {HTMLElement} */ stage) {
  const box = el("div", { class: "preview", ariaHidden: "true", hidden: true });
  document.body.append(box);
  let timer = 0;
  const hide = () => {
    clearTimeout(timer);
    box.hidden = true;
  };
  /** @param {any} event */
  const show = ({ target, type }) => {
    const one = target.closest?.(".small");
    if (!one) return;
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      const question = app.state.question;
      const group = question?.kind === "choice" && question.groups.find((other) => String(other.group) === one.dataset.group);
      if (!group || !one.isConnected) return;
      const [thing] = group.shown;
      const about = one.querySelector(".option-about")?.textContent;
      fill(box, thing && (thing.image ? showPicture(smallPicture(thing), middleOf(thing.image)) : tile(thing, "eager")),
        el("p", {}, keyMark(group), " ", el("b", { dir: "auto" }, group.name || about || ""), el("span", { class: "hint" }, ` ${count(group.size)}`)));
      box.hidden = false;
      const at = one.getBoundingClientRect();
      const { width, height } = box.getBoundingClientRect();
      box.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, at.left + at.width / 2 - width / 2))}px`;
      box.style.top = `${at.top > height + 8 ? at.top - height - 8 : at.bottom + 8}px`;
    }, type === "focusin" ? 0 : DELAY);
  };
  stage.addEventListener("pointerover", (event) => event.pointerType === "mouse" && show(event));
  stage.addEventListener("focusin", (event) => (/** @type {any} */ (event.target)).matches?.(":focus-visible") && show(event));
  stage.addEventListener("pointerout", hide);
  stage.addEventListener("focusout", hide);
  document.addEventListener("keydown", hide);
}
