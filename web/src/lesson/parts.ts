/** What the parts of the page are given, and how a figure's store is made. */

import { type State, Store } from "../state/store";
import { decode, type Payload } from "../trace/decode";
import type { FigureJson, QuestionJson, Words } from "./course";

/** Of a panel beside a figure's graph. */
export interface PanelProps {
  readonly store: Store;
  readonly state: State;
  readonly figure: FigureJson;
  readonly words: Words;
}

/** What is said of an answer, and of each of its parts. */
export interface Verdict {
  readonly right: boolean;
  readonly says: string;
  readonly marks: readonly (boolean | undefined)[];
  /** What was typed is no answer: it is said why, and it does not count. */
  readonly unread?: boolean;
}

/** Of the part of a question in which one answers. */
export interface AnswerProps {
  readonly id: string;
  readonly question: QuestionJson;
  readonly words: Words;
  readonly given: readonly string[];
  readonly marks: readonly (boolean | undefined)[];
  readonly theme: string;
  /** Without a verdict, the one before is no longer shown: another part of the question is asked. */
  readonly onAnswer: (given: readonly string[], verdict: Verdict | null) => void;
}

/** A figure beside a text has less room than the explorer's graph: more of it is folded at first. */
const FEW = { whole: 24, most: 10 };

/** A store on a trace. */
export function storeOf(payload: Payload): Store {
  if (!payload.trace) throw new Error("a figure has a trace");
  const { run, folding } = decode(payload.trace);
  const store = new Store(run, null, folding, null, FEW);
  // The text beside a figure says where to begin.
  store.set({ hint: false, printed: true });
  return store;
}

/** Nothing is to move. */
export function calm(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
