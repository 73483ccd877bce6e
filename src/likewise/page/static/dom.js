// Elements from plain values. Text is always set as text, never as markup.

const SVG = ["svg", "circle", "line", "path", "polyline"];

/** Children may be lists; what is empty, null or false is left out. @param {any[]} children */
const nodesOf = (children) => children.flat(Infinity).filter(Boolean);

/** @type {(tag: string, props?: Props, ...children: any[]) => any} */
export function el(tag, props = {}, ...children) {
  const node = SVG.includes(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null) continue;
    if (name === "on") for (const [kind, f] of Object.entries(value)) node.addEventListener(kind, f);
    else if (name === "style") for (const [property, one] of Object.entries(value)) node.style.setProperty(property, one);
    else if (node instanceof HTMLElement && name in node) Object.assign(node, { [name]: value });
    else node.setAttribute(name, value);
  }
  node.append(...nodesOf(children));
  return node;
}

/** Put something in place of what an element contains. @type {(node: Element, ...children: any[]) => void} */
export const fill = (node, ...children) => node.replaceChildren(...nodesOf(children));

/** @type {(words: any, press: (event: any) => unknown, props?: Props) => any} */
export const button = (words, press, props = {}) => el("button", { type: "button", class: "plain", on: { click: press }, ...props }, words);

/** A button below a list that fetches more for it until it has `n` entries; none if it has them.
 * @type {(list: Element, n: number, words: string, fetchMore: (at: number) => Promise<Node[] | undefined>) => any} */
export function moreButton(list, n, words, fetchMore) {
  const more = button(words, async () => {
    list.append(...((await fetchMore(list.children.length)) ?? []));
    if (list.children.length >= n) more.remove();
  }, { class: "plain next" });
  return list.children.length < n && more;
}

// -- the key of a group: what to press, and a color and a shape that are the same everywhere ------

// White is read on all of them; twelve are told apart at a glance, and later groups have a pattern, too.
const COLORS = ["#1b6fae", "#c8323f", "#23813f", "#a85f00", "#7a4bc2", "#0d7c7c", "#b32d86", "#66710f", "#7d5038", "#3d53c9", "#57626f", "#8a1f4d"];
const SHAPES = ["circle", "square", "triangle", "diamond", "cross"];
const PATTERNS = ["", "striped", "dotted", "framed"];

/** Color and shape together, so that the map can be read without color; gray before it has a key. @type {(number: number | null) => Look} */
export function lookOf(number) {
  if (number === null) return { color: "#7d838c", shape: "circle", pattern: "" };
  const round = Math.floor(number / COLORS.length);
  return { color: COLORS[number % COLORS.length], shape: SHAPES[(number + round) % SHAPES.length], pattern: PATTERNS[round % PATTERNS.length] };
}

/** @type {(group: Pick<Keyed, "key" | "number">) => any} */
export function keyMark({ key, number }) {
  const { color, pattern } = lookOf(number);
  return el(key ? "kbd" : "span", { class: `key ${pattern}`, style: { "--key": color } }, key.toUpperCase());
}

/** Some keys have two letters, and none is the beginning of another: returns whether a letter is part of one.
 * @type {(keysNow: () => string[], choose: (key: string, isOneOfSeveral?: boolean) => unknown) => (letter: string, isOneOfSeveral?: boolean) => boolean} */
export function keyTyper(keysNow, choose) {
  let begun = "";
  return (letter, isOneOfSeveral) => {
    const keys = keysNow();
    const whole = keys.some((key) => key.startsWith(begun + letter)) ? begun + letter : letter;
    const isWhole = keys.includes(whole);
    begun = !isWhole && keys.some((key) => key.startsWith(whole)) ? whole : "";
    if (isWhole) choose(whole, isOneOfSeveral);
    return isWhole || begun !== "";
  };
}

/** The first element that a selector finds, and all of them. @type {(selector: string) => any} */
export const first = (selector) => document.querySelector(selector);
/** @type {(selector: string) => any[]} */
export const every = (selector) => [...document.querySelectorAll(selector)];
/** An element that page.html has. @type {(id: string) => any} */
export const byId = (id) => document.getElementById(id);

export const WORDS = { same: "same", different: "different", unsure: "not sure" };

/** The sign of an answer. That of "different" is drawn, since not every font has one. @param {Word} word */
export const sign = (word) => el("span", { class: `sign ${word}`, ariaHidden: "true" }, { same: "=", unsure: "?", different: "" }[word]);
export const signed = (/** @type {Word} */ word) => [sign(word), ` ${WORDS[word]}`];

export const count = (/** @type {number} */ n) => n.toLocaleString("en");
export const capital = (/** @type {string} */ words) => words.charAt(0).toUpperCase() + words.slice(1);
/** @type {(n: number, word: string) => string} */
export const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
