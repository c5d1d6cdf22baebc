/** What a link says: `#walk-it-backward`, or an assignment, `#chapter=3&figure=fresh&program=a = 2; …&step=4&answers=hide`. */

import type { CourseJson } from "./course";

export interface Link {
  /** The chapter's position, from 0; null when the link names none. */
  readonly chapter: number | null;
  /** The figure that `program`, `set` and `step` are for; the chapter's first without it. */
  readonly figure: string;
  readonly program: string;
  /** Numbers of inputs: `a:3 b:-1`. */
  readonly set: readonly (readonly [string, number])[];
  /** From 0; null when the link names none. */
  readonly step: number | null;
  readonly answersHidden: boolean;
  /** Significant digits of the numbers in the figures' tables, 0 for all; null when the link says nothing of them. */
  readonly digits: number | null;
  /** Colours for this page alone; empty when the link names none. */
  readonly theme: string;
  /** Without header and chapter list, for a frame in another page. */
  readonly embedded: boolean;
}

export function readLink(course: CourseJson, hash: string): Link {
  const text = hash.replace(/^#/, "");
  const parts = new URLSearchParams(text.includes("=") ? text : `chapter=${text}`);
  const step = Number(parts.get("step") ?? NaN);
  const digits = parts.get("digits") === "all" ? 0 : Math.floor(Number(parts.get("digits") ?? NaN));
  const theme = parts.get("theme") ?? "";
  return {
    chapter: chapterOf(course, parts.get("chapter") ?? ""),
    figure: parts.get("figure") ?? "",
    program: parts.get("program") ?? "",
    set: pairs(parts.get("set") ?? ""),
    step: step >= 1 ? Math.floor(step) - 1 : null,
    // The explorer's own links say "hidden" and "locked": an assignment must not show its answers for want of the right word.
    answersHidden: ["hide", "hidden", "locked"].includes(parts.get("answers") ?? ""),
    digits: parts.get("digits") === "all" || (digits >= 1 && digits <= 17) ? digits : null,
    theme: ["auto", "light", "dark"].includes(theme) ? theme : "",
    embedded: parts.get("embed") === "1",
  };
}

/** Whether it changes what a figure shows. */
export function asksOfFigure({ program, set, step }: Link): boolean {
  return program !== "" || set.length > 0 || step !== null;
}

function chapterOf(course: CourseJson, wanted: string): number | null {
  const number = Number(wanted);
  if (wanted !== "" && number >= 1 && number <= course.chapters.length) return Math.floor(number) - 1;
  const found = course.chapters.findIndex(({ name }) => name === wanted);
  return found < 0 ? null : found;
}

function pairs(text: string): [string, number][] {
  return text.split(/[\s,]+/).flatMap((pair): [string, number][] => {
    const at = pair.lastIndexOf(":");
    const value = Number(pair.slice(at + 1));
    return at > 0 && value === value ? [[pair.slice(0, at), value]] : [];
  });
}
