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

const HIDDEN = `likewise-hidden ${first(".source")?.textContent}`;

/** Fields of rows that are not shown. @returns {Set<string>} */
export const hiddenFields = () => new Set(JSON.parse(localStorage.getItem(HIDDEN) ?? "[]"));
export const hideFields = (/** @type {Iterable<string>} */ names) => localStorage.setItem(HIDDEN, JSON.stringify([...names]));
