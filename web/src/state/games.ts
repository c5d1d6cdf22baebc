/** The moves of the views that ask: the order game, the predictions, and the steps downhill. */

import { sameNumber } from "../lab/answers";
import type { Store } from "./store";

// --- the order game -----------------------------------------------------------------------------

export function setOrder(store: Store, order: readonly number[]): void {
  store.pass({ order, ran: false });
}

export function runOrder(store: Store): void {
  store.pass({ ran: true, bug: null, assign: false });
  store.goTo(store.state.shown.forwardCount);
}

// --- predict, then reveal -----------------------------------------------------------------------

const NOTHING = { right: 0, asked: 0, answers: [], marks: [], done: false };

/** Ask what each step adds. */
export function startPrediction(store: Store): void {
  store.makeRight();
  store.set({ predict: { mode: "steps", ...NOTHING }, step: store.state.shown.forwardCount });
  nextPrediction(store);
}

/** Ask for the gradients of all inputs, as on paper. */
export function startPaper(store: Store): void {
  store.makeRight();
  store.set({ predict: { mode: "paper", ...NOTHING }, hidden: false, moving: false });
}

export function nextPrediction(store: Store): void {
  const { shown, step, predict } = store.state;
  if (predict === null) return;
  let next = step + 1;
  while (next < shown.stepCount && shown.additionsOf(next).length === 0) next++;
  const done = next >= shown.stepCount;
  store.set({ step: done ? shown.stepCount - 1 : next, hidden: !done, moving: false, predict: { ...predict, answers: [], marks: [], done } });
}

/** Compare the answers with what the step adds. */
export function reveal(store: Store, answers: readonly number[]): void {
  const { shown, step, predict } = store.state;
  if (predict === null) return;
  const marks = shown.additionsOf(step).map((item, k) => sameNumber(answers[k], shown.additions.contribution[item]));
  store.set({
    hidden: false,
    moving: true,
    predict: { ...predict, answers, marks, asked: predict.asked + marks.length, right: predict.right + marks.filter(Boolean).length },
  });
}

/** Compare the answers with the gradients of the inputs; all of them right uncover everything. */
export function checkPaper(store: Store, answers: readonly number[]): void {
  const { run, predict } = store.state;
  if (predict === null) return;
  const marks = run.graph.leaves.map((leaf, k) => sameNumber(answers[k], run.final(leaf)));
  const done = marks.every(Boolean);
  store.set({ predict: { ...predict, answers, marks, asked: marks.length, right: marks.filter(Boolean).length, done } });
  if (done) uncover(store);
}

/** Show the gradients. */
export function uncover(store: Store): void {
  store.set({ answers: "shown", hidden: false });
}

// --- downhill -----------------------------------------------------------------------------------

/** Move every input a little against its gradient, so that the result becomes smaller. */
export function stepDownhill(store: Store): void {
  const { run, rate, descent } = store.state;
  const { graph } = run;
  const before = descent.length ? descent : [run.data[graph.root]];
  const moved = new Map(graph.leaves.map((leaf) => [leaf, run.data[leaf] - rate * run.final(leaf)] as const));
  if (!store.editAll(moved)) return;
  store.set({ descent: [...before, store.state.run.data[graph.root]], step: store.state.shown.stepCount - 1 });
}
