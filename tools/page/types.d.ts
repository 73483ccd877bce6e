// What the server sends, as page/shapes.py and page/calls.py make it, and what the page makes of it.

type Word = "same" | "different" | "unsure";
type How = "said" | "learned" | "open";

/** An item with what a small picture or a line needs. */
interface Thing {
  row: number;
  id: string;
  title: string;
  kind: string;
  image?: string;
  spark?: number[];
  line?: string;
  telling?: string[];
  n_copies?: number;
}

/** An item and how its group is known. */
interface Known extends Thing {
  group: number;
  number: number | null;
  key: string;
  name: string;
  how: How;
  certainty: number | null;
  is_marked: boolean;
}

interface Channel {
  name: string;
  t: number[];
  y: number[];
}

/** All that is shown of an item: its parts, each of which may be missing. */
interface View {
  kind: string;
  picture?: boolean;
  channels?: Channel[];
  text?: string;
  length?: number;
  telling?: string[];
  marked?: string[];
  fields?: [string, string][];
  scales?: Record<string, number>;
  html?: string;
}

interface Item extends Thing {
  heading: string;
  view: View;
  copies: string[];
  fellows?: Thing[];
}

/** What every mention of a group has. */
interface Keyed {
  number: number | null;
  key: string;
  name: string;
  size: number;
}

interface Counts {
  size: number;
  n_said: number;
  n_open: number;
  n_doubtful: number;
  n_wrong: number | null;
}

interface Group extends Keyed, Counts {
  id: number;
  summary: string;
  typical: Known[];
}

/** A group to choose; `place` is where it stands in the question. */
interface Option extends Keyed {
  /** Its id; null if it is known by its name only. */
  group: number | null;
  shown: Thing[];
  place: number;
}

/** A field of the item beside those of the groups. */
interface Field {
  name: string;
  value: string | null;
  at: number | null;
  groups: Cell[];
}

interface Cell {
  n_missing: number;
  shares?: [string, number][];
  texts?: string[];
  text?: string | null;
  low: number;
  middle: number;
  high: number;
}

interface Pair {
  kind: "pair";
  number: number;
  left: Item;
  right: Item;
  fellows: Thing[][];
  distance?: number | null;
  turn?: string;
}

interface Choice {
  kind: "choice";
  number: number;
  item: Item;
  groups: Option[];
  /** How many of the groups, the first ones, are drawn large. */
  n_large: number;
  fields: Field[];
  distance?: undefined;
  turn?: undefined;
}

type Question = Pair | Choice;

interface Completeness {
  estimate: number;
  at_least: number;
  is_said: boolean;
  curve: [number, number][];
}

interface Progress {
  progress: { answered: number; unsure: number; estimate: number | null; n_groups: number };
  outlook: { line: string; quality: string; more: string; can_stop: boolean; can_rebuild: boolean };
  completeness: Completeness | null;
  /** What distinguishes groups without a name, by the id of the group. */
  abouts: Record<string, string>;
  /** Two groups that may be one. */
  suggestion?: { left: Option; right: Option } | null;
  seen: Seen;
  aspects?: { name: string; weight: number | null; is_on: boolean }[];
  /** By which of several aspects, in words, once that is known. */
  grouped_by: string;
  /** A language model that answers, too. */
  model: { line: string; warning: string; is_working: boolean } | null;
}

/** By what the items are grouped, and how to get better features. */
interface Seen {
  aspects: { name: string; description: string }[];
  better: string;
  /** What was guessed, left out or not read. */
  notes: string[];
}

/** Where the session is. */
interface State extends Progress {
  position: number;
  is_done: boolean;
  instruction: string;
  has_map: boolean;
  question: Question | null;
  can_undo: boolean;
  can_redo: boolean;
  you: { name: string; can_answer: boolean } | null;
}

/** A question on which two people do not agree. */
interface Disagreement {
  disagreement: number;
  item: Thing;
  groups: Option[];
  said: { by: string; chosen: number[] }[];
}

/** How often people agree who answered the same questions. */
interface Agreement {
  pairs: { people: [string, string]; n: number; n_same: number; n_unsure: number; interval: [number, number]; kappa: number | null; kappa_interval: [number, number] | null }[];
  n_decided: number;
  disagreements: Disagreement[];
}

/** An answer of the log. */
interface Entry {
  number: number;
  answer: Word;
  source: string;
  by: string | null;
  at: string | null;
  seconds: number | null;
  left: Thing;
  right: Thing;
  links: unknown[];
  groups: Option[];
}

interface Check {
  left: Item;
  right: Item;
  said: Word | null;
  expected: Word;
  because: number[];
}

/** An earlier question, asked again the other way round. */
interface Repeat {
  number: number;
  question: Question;
  said: Word | null;
  is_same?: boolean | null;
}

/** Names of a column that may be one. */
interface Alike {
  target: string;
  likeness: number;
  parts: { row: number; names: { row: number; name: string; count: number }[] }[];
}

/** Who answered, and whether that counts. */
interface Answerer {
  by: string | null;
  n: number;
  is_aside: boolean;
}

/** A check in the history; it stands above the answer `after`. */
interface Checked {
  after: number;
  source: "check" | "repeat";
  answer: Word;
  is_same: boolean | null;
  by: string | null;
  at: string | null;
  left: Thing;
  right: Thing;
}

interface Changes {
  n: number;
  n_following: number;
  following: Thing[];
}

interface Checks {
  checks: Check[];
  repeats: Repeat[];
  n_repeated: number;
  n_agreeing: number;
  n: number;
  n_wrong: number;
  interval: [number, number];
}

interface Unsure {
  n: number;
  n_together: number;
  pairs: { left: Thing; right: Thing; is_together: boolean }[];
}

/** An item on the map: row, x, y, the id of its group, and how it is known. */
type Point = [row: number, x: number, y: number, group: number, how: number];

interface MapReply {
  points: Point[];
  layout: "learned" | "alike";
  n: number;
  n_groups: number;
  groups: Group[];
}

interface Listed {
  n: number;
  members: Known[];
  group?: Group;
}

interface Format {
  format: string;
  title: string;
}

/** How many items the session is about so far, while others are described. */
interface Rest {
  n: number;
  n_so_far: number;
  n_described: number;
  seconds_left: number | null;
  error: string;
  line: string;
}

/** The reply to a call, by its address. */
type Reply<Path extends string> = { position: number } & (
  Path extends `query${string}` ? State
  : Path extends "progress" ? Progress
  : Path extends "ahead" ? { next: Record<string, Question | null> }
  : Path extends `history${string}` ? { n: number; events: Entry[]; checks: Checked[]; answerers: Answerer[] }
  : Path extends `groups${string}` ? { n: number; total: Counts; groups: Group[] }
  : Path extends `group/${number}/parts` ? { parts: { size: number; shown: Known[] }[] }
  : Path extends `group/${number}?${string}` ? Listed & { group: Group }
  : Path extends `item/${number}` ? { item: Item & Known; group: Group }
  : Path extends `names?${string}` ? { n: number; names: Alike[] }
  : Path extends "map" ? MapReply
  : Path extends "unsure" ? Unsure
  : Path extends "checks" ? Checks
  : Path extends "rest" ? { rest: Rest | null }
  : Path extends "model" ? { model: Progress["model"] }
  : Path extends "agreement" ? Agreement
  : Path extends "formats" ? { formats: Format[] }
  : Listed
);

/** The frame of a notebook lends the page its own way to call. */
interface Element {
  likewise?: any;
}

/** The attributes of a new element; `on` has its listeners. */
interface Props {
  on?: Record<string, (event: any) => unknown>;
  style?: Record<string, string | number>;
  [name: string]: any;
}

/** The color and the shape of a group. */
interface Look {
  color: string;
  shape: string;
  pattern: string;
}
