/** What a link says: `#walk-it-backward`, or an assignment, `#chapter=3&figure=fresh&program=a = 2; …&step=4&answers=hide`. */

import type { Run } from "../model/run";
import type { CourseJson, Target } from "./course";

export interface Link {
  /** The chapter's position, from 0; null when the link names none. */
  readonly chapter: number | null;
  /** The figure that `program`, `set` and `step` are for; the chapter's first without it. */
  readonly figure: string;
  readonly program: string;
  /** Numbers of inputs: `a:3 b:-1`. */
  readonly set: readonly (readonly [string, number])[];
  /** A number from 1, or a word of `STEPS`; empty when the link names none. */
  readonly step: string;
  readonly answersHidden: boolean;
  /** Significant digits of the numbers in the figures' tables, 0 for all; null when the link says nothing of them. */
  readonly digits: number | null;
  /** Colours for this page alone; empty when the link names none. */
  readonly theme: string;
  /** Without header and chapter list, for a frame in another page. */
  readonly embedded: boolean;
  /** The figure alone, without the chapter's text. */
  readonly alone: boolean;
  /** Where a sentence of the page around it leads the figure. */
  readonly go: Target | null;
  /** Parts that say nothing which this page has, as they stand in the link. */
  readonly ignored: readonly string[];
}

/** The words for a step, as the explorer's links have them. */
const STEPS = ["first", "forward", "seed", "last"];
const COLOURS = ["auto", "light", "dark"];
/** The explorer's own links say "hidden" and "locked": an assignment must not show its answers for want of the right word. */
const HIDDEN = ["hide", "hidden", "locked"];

/** Every part that a link may have. */
const PARTS = ["chapter", "answers", "figure", "program", "set", "step", "digits", "theme", "embed", "go"];

export function readLink(course: CourseJson, hash: string): Link {
  const text = hash.replace(/^#/, "");
  // A word alone is a chapter; an empty address asks for nothing.
  const parts = new URLSearchParams(text === "" || text.includes("=") ? text : `chapter=${text}`);
  const ignored = [...parts].filter(([name, value]) => !PARTS.includes(name) || value === "").map(([name, value]) => `${name}=${value}`);
  /** The part with this name where it fits, and empty where not. */
  const read = (name: string, fits: (value: string) => boolean): string => {
    const value = parts.get(name) ?? "";
    if (value === "" || fits(value)) return value;
    ignored.push(`${name}=${value}`);
    return "";
  };
  const chapter = read("chapter", (value) => chapterOf(course, value) !== null);
  const digits = read("digits", (value) => value === "all" || isCount(value, 17));
  const embed = read("embed", (value) => ["0", "1", "figure"].includes(value));
  const link = {
    chapter: chapterOf(course, chapter),
    figure: read("figure", (value) => isFigure(course, chapterOf(course, chapter), value)),
    program: parts.get("program") ?? "",
    set: pairs(read("set", (value) => pairs(value).length === listed(value).length)),
    step: read("step", (value) => STEPS.includes(value) || isCount(value)),
    answersHidden: HIDDEN.includes(read("answers", (value) => [...HIDDEN, "shown"].includes(value))),
    digits: digits === "" ? null : digits === "all" ? 0 : Number(digits),
    theme: read("theme", (value) => COLOURS.includes(value)),
    embedded: embed === "1",
    alone: embed === "figure",
    go: targetOf(parts.get("go") ?? ""),
  };
  return { ...link, ignored };
}

/** Where a step of a link is, in the pass that a figure shows. */
export function stepOf(step: string, { forwardCount, stepCount }: Run): number {
  const words: Readonly<Record<string, number>> = { first: 0, forward: forwardCount - 1, seed: forwardCount, last: stepCount - 1 };
  return words[step] ?? Number(step) - 1;
}

function targetOf(text: string): Target | null {
  try {
    return text === "" ? null : (JSON.parse(text) as Target);
  } catch {
    return null;
  }
}

function isCount(text: string, most = Infinity): boolean {
  return /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= most;
}

/** Whether the chapter, or any where none is named, has this figure. */
function isFigure({ chapters }: CourseJson, chapter: number | null, name: string): boolean {
  return chapters.some(({ scenes }, k) => (chapter ?? k) === k && scenes.some(({ figure }) => figure?.name === name));
}

/** Whether it changes what a figure shows. */
export function asksOfFigure({ program, set, step }: Link): boolean {
  return program !== "" || set.length > 0 || step !== "";
}

function chapterOf(course: CourseJson, wanted: string): number | null {
  const number = Number(wanted);
  if (wanted !== "" && number >= 1 && number <= course.chapters.length) return Math.floor(number) - 1;
  const found = course.chapters.findIndex(({ name }) => name === wanted);
  return found < 0 ? null : found;
}

function pairs(text: string): [string, number][] {
  return listed(text).flatMap((pair): [string, number][] => {
    const at = pair.lastIndexOf(":");
    const value = Number(pair.slice(at + 1));
    return at > 0 && value === value ? [[pair.slice(0, at), value]] : [];
  });
}

function listed(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
