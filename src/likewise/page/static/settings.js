// What a person prefers, kept by the browser.

import { first } from "./dom.js";

/** @type {(name: string, usual: string) => { isOn: boolean }} */
const setting = (name, usual) => ({
  get isOn() {
    return (localStorage.getItem(`likewise-${name}`) ?? usual) === "on";
  },
  set isOn(on) {
    localStorage.setItem(`likewise-${name}`, on ? "on" : "off");
  },
});

export const letters = setting("keys", "on");
export const pairsOnly = setting("pairs", "off");
// Not kept: whoever comes next should not be swayed by them.
export const distances = { isOn: false };

// Fields of rows that are not shown.
export const hiddenFields = {
  key: `likewise-hidden ${first(".source")?.textContent}`,
  /** @returns {Set<string>} */
  get names() {
    return new Set(JSON.parse(localStorage.getItem(this.key) ?? "[]"));
  },
  toggle(/** @type {string} */ name) {
    const { names } = this;
    if (!names.delete(name)) names.add(name);
    localStorage.setItem(this.key, JSON.stringify([...names]));
  },
};
