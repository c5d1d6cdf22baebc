/** What the learner has done, kept in the browser where it allows that, and in memory alone where it does not. */

import { type ChapterJson, questionsOf } from "./course";

const KEY = "retrograd-lesson-1";

/** How a question stands. */
export interface Standing {
  readonly right: boolean;
  readonly tries: number;
  readonly hints: number;
  /** The learner had the answer shown. */
  readonly shown: boolean;
  /** What was answered last, as it was typed. */
  readonly given: readonly string[];
}

export const FRESH: Standing = { right: false, tries: 0, hints: 0, shown: false, given: [] };

interface Kept {
  readonly questions: Record<string, Standing>;
  readonly last: string;
  readonly theme: string;
}

export class Progress {
  private kept: Kept = { questions: {}, last: "", theme: "auto" };
  private readonly listeners = new Set<() => void>();
  /** What could not be written is known here alone, and not to be read over. */
  private writable = true;

  constructor(
    /** Where it is kept; null where nothing is. */
    private readonly storage: Storage | null,
    /** Right and wrong are not told: an assignment. */
    readonly answersHidden: boolean,
  ) {
    this.read();
  }

  /** Take over what is kept, which another window may have changed. */
  private read(): void {
    try {
      const text = this.writable ? this.storage?.getItem(KEY) : null;
      if (text) this.kept = { ...this.kept, ...(JSON.parse(text) as Partial<Kept>) };
    } catch {
      // What is there is not ours, or may not be read: go on with what is known.
    }
  }

  standing(chapter: string, question: string): Standing {
    return this.kept.questions[this.key(chapter, question)] ?? FRESH;
  }

  update(chapter: string, question: string, change: Partial<Standing>): void {
    this.read();
    const key = this.key(chapter, question);
    const next = { ...(this.kept.questions[key] ?? FRESH), ...change };
    this.keep({ questions: { ...this.kept.questions, [key]: next } });
  }

  /** An assignment's answers are apart from those of the learner's own pace. */
  private key(chapter: string, question: string): string {
    return `${this.answersHidden ? "assignment:" : ""}${chapter}/${question}`;
  }

  /** How many of a chapter's questions are settled: answered right, or looked up; or, in an assignment, answered. */
  settled(chapter: ChapterJson): number {
    return questionsOf(chapter).filter(({ name }) => this.isSettled(this.standing(chapter.name, name))).length;
  }

  isSettled(standing: Standing): boolean {
    return this.answersHidden ? standing.tries > 0 : standing.right || standing.shown;
  }

  isDone(chapter: ChapterJson): boolean {
    return this.settled(chapter) === questionsOf(chapter).length;
  }

  get last(): string {
    return this.kept.last;
  }

  visit(chapter: string): void {
    if (chapter !== this.kept.last) this.keep({ last: chapter });
  }

  get theme(): string {
    return this.kept.theme;
  }

  setTheme(theme: string): void {
    this.keep({ theme });
  }

  /** Forget every answer. */
  clear(): void {
    this.keep({ questions: {} });
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private keep(change: Partial<Kept>): void {
    this.read();
    this.kept = { ...this.kept, ...change };
    try {
      this.storage?.setItem(KEY, JSON.stringify(this.kept));
    } catch {
      // No room, or no permission: it lasts as long as the page does.
      this.writable = false;
    }
    for (const listener of this.listeners) listener();
  }
}

/** The browser's storage, or null where a page of this kind may not use it. */
export function storageOf(window_: Window): Storage | null {
  try {
    return window_.localStorage;
  } catch {
    return null;
  }
}
