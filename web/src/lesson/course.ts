/** What the page is given: the chapters as Python computed them (src/retrograd/lesson/course/build.py). */

import type { Payload } from "../trace/decode";

/** Where a bound sentence puts its figure. */
export interface Target {
  readonly figure: string;
  /** From 0; the last one of a pass that is wrong on purpose is known when that pass has been made. */
  readonly step: number | "end";
  readonly node?: number;
  readonly edge?: number;
  /** A pass that is wrong on purpose (see lab/bugs.ts). */
  readonly wrong?: string;
  /** Other numbers for inputs: pairs of a node and its number. */
  readonly values?: readonly (readonly [number, number])[];
}

export interface FigureJson {
  readonly name: string;
  readonly payload: Payload;
  readonly program: string;
  readonly step: number;
  readonly caption: string;
  readonly options: Readonly<Record<string, string>>;
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface FieldJson {
  readonly label: string;
  readonly answer: number;
  /** Wrong numbers that people give, and what each means. */
  readonly cases: readonly (readonly [number, string])[];
  /** The contributions of a gradient: a local derivative, the label of the gradient above, and that gradient. */
  readonly terms: readonly (readonly [number, string, number])[];
  /** What is said of a number that is right but for a wrong one above it; `{names}` is filled in. */
  readonly follows: string;
}

export interface QuestionJson {
  readonly kind: "question";
  readonly name: string;
  readonly form: "choice" | "number" | "gradients" | "order" | "report";
  readonly prompt: readonly string[];
  readonly choices: readonly { readonly html: string; readonly right: boolean; readonly says: string }[];
  readonly fields: readonly FieldJson[];
  readonly orders: readonly { readonly name: string; readonly payload: Payload }[];
  /** How far off the right answer may be, and how far off a number may be from the wrong one that it is taken for. */
  readonly tolerance: number;
  readonly rounding: number;
  /** What is said of a number with too few digits; empty where the right one is whole. */
  readonly nearly: string;
  /** A gradient that the figure does not show before the question is answered; in a pass that is wrong on purpose, or the right one. */
  readonly covers: { readonly figure: string; readonly node: number; readonly wrong: boolean } | null;
  readonly hints: readonly string[];
  readonly right: string;
  readonly otherwise: string;
}

export type BlockJson =
  | { readonly kind: "text" | "note" | "heading"; readonly html: string }
  | { readonly kind: "list"; readonly ordered: boolean; readonly items: readonly string[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | QuestionJson;

export interface SceneJson {
  readonly heading: string;
  readonly blocks: readonly BlockJson[];
  readonly figure: FigureJson | null;
}

export interface ChapterJson {
  readonly name: string;
  readonly head: Readonly<Record<string, string>>;
  readonly scenes: readonly SceneJson[];
}

export interface CourseJson {
  readonly format: "retrograd-lesson";
  readonly version: number;
  readonly start: number | null;
  readonly words: Readonly<Record<string, string>>;
  readonly chapters: readonly ChapterJson[];
}

export function questionsOf(chapter: ChapterJson): QuestionJson[] {
  return chapter.scenes.flatMap(({ blocks }) => blocks.filter((block): block is QuestionJson => block.kind === "question"));
}

/** The words around the chapters; they can be translated, and `{name}` in them is filled in. */
export class Words {
  constructor(private readonly words: Readonly<Record<string, string>>) {}

  say(key: string, parts: Readonly<Record<string, string | number>> = {}): string {
    const text = this.words[key];
    if (text === undefined) throw new Error(`words.toml has no ${key}`);
    return text.replace(/\{([a-z]+)\}/g, (whole, name: string) => String(parts[name] ?? whole));
  }
}
