/** What the page knows at one moment. Nothing in it changes: the store replaces it. */

import type { FoldTree } from "../model/fold";
import type { Program } from "../model/program";
import type { Run } from "../model/run";
import type { Scene } from "../layout/scene";

/** The views beside the graph, in the order of their tabs. The first four are there at once, the others behind "More". */
export const TABS = ["step", "ledger", "waterfall", "influence", "slope", "formula", "why", "sort", "game", "predict", "bugs"] as const;
export type Tab = (typeof TABS)[number];
export const AT_ONCE = 4;

export type Selection = { readonly kind: "node" | "edge"; readonly id: number } | { readonly kind: "group"; readonly id: number };
export type Theme = "auto" | "light" | "dark";

/** What is asked in the view "Predict": what each step adds, or all the gradients of the inputs, as on paper. */
export interface Prediction {
  readonly mode: "steps" | "paper";
  readonly right: number;
  readonly asked: number;
  /** What was answered at this step, and whether it was right. */
  readonly answers: readonly number[];
  readonly marks: readonly boolean[];
  readonly done: boolean;
}

/** What undo brings back. */
export interface Snapshot {
  readonly run: Run;
  readonly edits: ReadonlyMap<number, number>;
  readonly program: Program | null;
  readonly tree: FoldTree;
  readonly open: ReadonlySet<number>;
}

/** A sentence about what went wrong last, and where in the expression it stands. */
export interface Problem {
  readonly text: string;
  readonly typed?: string;
  readonly at?: readonly [number, number];
}

export interface State extends Snapshot {
  /** The run that is shown: `run`, or the same numbers passed backward in a wrong manner. */
  readonly shown: Run;
  readonly scene: Scene;
  /** The step that was made last, from 0: what is shown is what holds after it. */
  readonly step: number;
  readonly playing: boolean;
  /** Steps a second. */
  readonly speed: number;
  readonly selection: Selection | null;
  /** `=` where `+=` belongs. */
  readonly assign: boolean;
  readonly tab: Tab;
  /** The views that there are; null for all, most of them behind "More". */
  readonly views: readonly Tab[] | null;
  /** All views are listed. */
  readonly more: boolean;
  readonly theme: Theme;
  /** Significant digits of the numbers in words and tables; 0 for all of them. */
  readonly digits: number;
  /** Sentences, formulas and tables have the signs of a printed text, a · b and −2, and not those of Python. */
  readonly printed: boolean;
  /** A figure inside another page: without the header. */
  readonly figure: boolean;
  readonly problem: Problem | null;
  /** Which dialog is open. */
  readonly dialog: "help" | "examples" | "find" | "export" | "share" | null;
  /** The last change of the step was one forward, so that its tokens may move. */
  readonly moving: boolean;
  /** The control to begin with is marked, until it is used. */
  readonly hint: boolean;
  /** The sentence of the tour that is shown. */
  readonly tour: number | null;
  /** While predicting, what the step adds is not shown. */
  readonly hidden: boolean;
  /** Whether gradients are shown; locked, they are shown to right answers alone. */
  readonly answers: "shown" | "hidden" | "locked";
  readonly predict: Prediction | null;
  /** Nodes whose gradient is asked for beside the graph, and not shown; true for a pass that is wrong on purpose. */
  readonly secret: ReadonlyMap<number, boolean>;
  /** The game: the order placed so far, and whether it is run. */
  readonly order: readonly number[];
  readonly ran: boolean;
  /** The depth-first search: how many of its moves are made. */
  readonly search: number;
  /** The bug of the lab that is shown. */
  readonly bug: string | null;
  /** The result after each step downhill, from the one before the first. */
  readonly descent: readonly number[];
  readonly rate: number;
}

/** Whether no gradient is to be seen now but the seed. */
export function allCovered({ answers, predict }: State): boolean {
  return answers !== "shown" || (predict?.mode === "paper" && !predict.done);
}

function isSecret({ secret, shown, run }: State, node: number): boolean {
  return secret.get(node) === (shown !== run);
}

/** Whether the gradient of a node is not to be seen now: answers are hidden, or a question or a prediction asks for it. */
export function isCovered(state: State, node: number): boolean {
  const { shown, step } = state;
  if (isSecret(state, node)) return true;
  if (allCovered(state)) return node !== shown.graph.root;
  return state.hidden && shown.additionsOf(step).some((item) => shown.graph.from[shown.additions.edge[item]] === node);
}

/** Whether what a step adds is not to be seen now. */
export function addsUnseen(state: State, step: number): boolean {
  if (step > state.step || allCovered(state) || (state.hidden && step === state.step)) return true;
  const { graph, additions } = state.shown;
  return state.secret.size > 0 && state.shown.additionsOf(step).some((item) => isSecret(state, graph.from[additions.edge[item]]));
}
