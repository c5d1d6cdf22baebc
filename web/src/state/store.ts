/** The state of the page and everything that changes it. Views read `store.state` and call its methods. */

import { DomainProblem, evaluate } from "../model/evaluate";
import { alone, type Folding, FoldTree, openAtFirst } from "../model/fold";
import { inManner, smallestInput, withBug } from "../model/lab";
import { repr } from "../model/numbers";
import { type Program, runProgram } from "../model/program";
import type { Run } from "../model/run";
import { encode } from "../trace/encode";
import { buildScene, type Scene } from "../layout/scene";

export type Tab = "step" | "waterfall" | "ledger" | "influence" | "formula" | "game" | "predict" | "bugs" | "why";
export type Selection = { readonly kind: "node" | "edge"; readonly id: number } | { readonly kind: "group"; readonly id: number };
export type Theme = "auto" | "light" | "dark";

/** At first about this many boxes are shown; a graph of up to `WHOLE` nodes is shown whole. */
export const AT_FIRST = 26;
export const WHOLE = 80;

/** The state of predict-then-reveal. */
export interface Prediction {
  readonly right: number;
  readonly asked: number;
  /** What was answered at this step, and whether it was right. */
  readonly answers: readonly number[];
  readonly marks: readonly boolean[];
  readonly done: boolean;
}

/** What undo brings back. */
interface Snapshot {
  readonly run: Run;
  readonly edits: ReadonlyMap<number, number>;
  readonly program: Program | null;
  readonly tree: FoldTree;
  readonly open: ReadonlySet<number>;
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
  readonly theme: Theme;
  /** A sentence about what went wrong last; empty when nothing did. */
  readonly problem: string;
  /** Which dialog is open. */
  readonly dialog: "help" | "examples" | "find" | "export" | null;
  /** The last change of the step was one forward, so that its tokens may move. */
  readonly moving: boolean;
  /** While predicting, what the step adds is not shown. */
  readonly hidden: boolean;
  readonly predict: Prediction | null;
  /** The game: the order placed so far, and whether it is run. */
  readonly order: readonly number[];
  readonly ran: boolean;
  /** The bug of the lab that is shown. */
  readonly bug: string | null;
}

export class Store {
  state: State;
  /** The run that the page was opened with, and its folding. */
  private past: Snapshot[] = [];
  private future: Snapshot[] = [];
  private readonly listeners = new Set<() => void>();

  constructor(
    run: Run,
    program: Program | null,
    folding: Folding | null,
    /** The page is narrow, so that the graph goes from top to bottom. */
    private vertical = false,
  ) {
    const tree = new FoldTree(run.graph, folding);
    const open = openAtFirst(tree, WHOLE, AT_FIRST);
    this.state = {
      run,
      shown: run,
      edits: new Map(),
      program,
      tree,
      open,
      scene: buildScene(tree, open, this.vertical),
      step: run.stepCount - 1,
      playing: false,
      speed: 1,
      selection: null,
      assign: false,
      tab: "step",
      theme: "auto",
      problem: "",
      dialog: null,
      moving: false,
      hidden: false,
      predict: null,
      order: [],
      ran: false,
      bug: null,
    };
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }

  // --- the cursor ---------------------------------------------------------------------------------

  goTo(step: number, moving = false): void {
    const last = this.state.shown.stepCount - 1;
    const next = Math.max(0, Math.min(last, step));
    if (next === this.state.step) {
      if (this.state.playing) this.set({ playing: false });
      return;
    }
    const { predict, shown } = this.state;
    const asked = predict === null ? {} : { hidden: shown.additionsOf(next).length > 0, predict: { ...predict, answers: [], marks: [], done: false } };
    this.set({ step: next, moving, playing: this.state.playing && next < last, ...asked });
  }

  forward(): void {
    this.goTo(this.state.step + 1, true);
  }

  back(): void {
    this.goTo(this.state.step - 1);
  }

  /** To the end of the forward pass, then to the end of the backward pass. */
  nextPhase(): void {
    const { shown, step } = this.state;
    this.goTo(step < shown.forwardCount - 1 ? shown.forwardCount - 1 : shown.stepCount - 1);
  }

  previousPhase(): void {
    const { shown, step } = this.state;
    this.goTo(step > shown.forwardCount ? shown.forwardCount : 0);
  }

  play(): void {
    const { playing, step, shown } = this.state;
    if (!playing && step === shown.stepCount - 1) this.set({ step: 0, moving: false });
    this.set({ playing: !playing });
  }

  /** What is shown, as trace JSON. */
  trace(): object {
    return encode(this.state.shown);
  }

  // --- what is looked at --------------------------------------------------------------------------

  select(selection: Selection | null): void {
    this.set({ selection });
  }

  /** Select a node, opening the groups around it. */
  show(node: number): void {
    const open = new Set(this.state.open);
    for (const group of this.state.tree.around(this.state.tree.home[node])) open.add(group.id);
    if (open.size !== this.state.open.size) this.setOpen(open);
    this.set({ selection: { kind: "node", id: node } });
  }

  /** Called with a node that should be brought into view. */
  reach: (node: number) => void = () => undefined;

  toggleGroup(id: number): void {
    const open = new Set(this.state.open);
    if (!open.delete(id)) for (const group of alone(this.state.tree.groups[id])) open.add(group.id);
    this.setOpen(open);
  }

  /** Close the group around the selected node. */
  foldAround(): void {
    const { selection, tree } = this.state;
    const group = selection?.kind === "node" ? tree.home[selection.id] : null;
    if (group === null || group.parent === null) return;
    this.fold(group.id);
  }

  /** Close a group, and look at it. */
  fold(id: number): void {
    const open = new Set(this.state.open);
    open.delete(id);
    this.setOpen(open);
    this.set({ selection: { kind: "group", id } });
  }

  /** All groups open, or those that were at first. */
  unfoldAll(all: boolean): void {
    const { tree } = this.state;
    this.setOpen(all ? new Set(tree.groups.map((group) => group.id)) : openAtFirst(tree, WHOLE, AT_FIRST));
  }

  /** Lay the graph out from top to bottom, or from left to right. */
  turn(vertical: boolean): void {
    if (vertical === this.vertical) return;
    this.vertical = vertical;
    this.setOpen(this.state.open);
  }

  setOpen(open: ReadonlySet<number>): void {
    const { selection } = this.state;
    const gone = selection?.kind === "group" && open.has(selection.id);
    this.set({ open, scene: buildScene(this.state.tree, open, this.vertical), moving: false, selection: gone ? null : selection });
  }

  // --- the numbers --------------------------------------------------------------------------------

  /** Put another number into a leaf and compute everything again. */
  edit(leaf: number, value: number): void {
    const { run, edits } = this.state;
    const inputs = run.data.slice();
    inputs[leaf] = value;
    try {
      const next = evaluate(run.graph, inputs);
      this.remember();
      this.setRun(next, new Map(edits).set(leaf, value));
    } catch (problem) {
      this.refuse(problem, `with ${run.graph.names[leaf]} = ${repr(value)}`);
    }
  }

  /** Another program in place of what is shown. Returns whether it could be computed. */
  open(program: Program): boolean {
    try {
      const run = runProgram(program);
      this.remember();
      const tree = new FoldTree(run.graph, null);
      const open = openAtFirst(tree, WHOLE, AT_FIRST);
      this.set({ tree, open, scene: buildScene(tree, open, this.vertical), program, selection: null, step: 0, dialog: null });
      this.setRun(run, new Map());
      return true;
    } catch (problem) {
      this.refuse(problem, "");
      return false;
    }
  }

  private refuse(problem: unknown, context: string): void {
    if (!(problem instanceof Error)) throw problem;
    const where = problem instanceof DomainProblem ? "This has no value" : "";
    this.set({ problem: where ? `${where} ${context}: ${problem.message}.`.replace("  ", " ") : problem.message });
  }

  private setRun(run: Run, edits: ReadonlyMap<number, number>): void {
    const other = run.graph !== this.state.run.graph;
    if (other) this.set({ order: [], ran: false, predict: null, hidden: false, bug: null, assign: false });
    this.pass({ run, edits, problem: "", predict: null, hidden: false });
  }

  /** Change something that may change which pass is shown. */
  private pass(change: Partial<State>): void {
    const next = { ...this.state, ...change };
    const shown = passOf(next);
    this.set({ ...change, shown, moving: false, playing: false, step: Math.min(next.step, shown.stepCount - 1) });
  }

  setAssign(assign: boolean): void {
    this.pass({ assign, bug: null, ran: false });
  }

  setBug(bug: string | null): void {
    this.pass({ bug, assign: false, ran: false });
  }

  /** Back to the pass as it should be. */
  makeRight(): void {
    this.pass({ bug: null, assign: false, ran: false });
  }

  setTab(tab: Tab): void {
    if (tab !== "predict" && this.state.predict !== null) this.set({ predict: null, hidden: false });
    this.set({ tab });
  }

  // --- the game -----------------------------------------------------------------------------------

  setOrder(order: readonly number[]): void {
    this.pass({ order, ran: false });
  }

  runOrder(): void {
    this.pass({ ran: true, bug: null, assign: false });
    this.goTo(this.state.shown.forwardCount);
  }

  // --- predict, then reveal -----------------------------------------------------------------------

  startPrediction(): void {
    this.makeRight();
    this.set({ predict: { right: 0, asked: 0, answers: [], marks: [], done: false }, step: this.state.shown.forwardCount });
    this.nextPrediction();
  }

  nextPrediction(): void {
    const { shown, step, predict } = this.state;
    if (predict === null) return;
    let next = step + 1;
    while (next < shown.stepCount && shown.additionsOf(next).length === 0) next++;
    const done = next >= shown.stepCount;
    this.set({ step: done ? shown.stepCount - 1 : next, hidden: !done, moving: false, predict: { ...predict, answers: [], marks: [], done } });
  }

  reveal(answers: readonly number[]): void {
    const { shown, step, predict } = this.state;
    if (predict === null) return;
    const truth = shown.additionsOf(step).map((item) => shown.additions.contribution[item]);
    const marks = truth.map((own, k) => Math.abs(answers[k] - own) <= 0.01 * Math.abs(own) + 1e-9);
    this.set({
      hidden: false,
      moving: true,
      predict: { ...predict, answers, marks, asked: predict.asked + marks.length, right: predict.right + marks.filter(Boolean).length },
    });
  }

  // --- undo ---------------------------------------------------------------------------------------

  private snapshot(): Snapshot {
    const { run, edits, program, tree, open } = this.state;
    return { run, edits, program, tree, open };
  }

  private remember(): void {
    this.past.push(this.snapshot());
    this.future = [];
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  undo(): void {
    this.swap(this.past, this.future);
  }

  redo(): void {
    this.swap(this.future, this.past);
  }

  private swap(from: Snapshot[], to: Snapshot[]): void {
    const snapshot = from.pop();
    if (snapshot === undefined) return;
    to.push(this.snapshot());
    const changed = snapshot.tree !== this.state.tree;
    const { tree, open, program } = snapshot;
    if (changed) this.set({ tree, open, program, scene: buildScene(tree, open, this.vertical), selection: null });
    this.setRun(snapshot.run, snapshot.edits);
  }
}

/** The pass that a state shows: the right one, or a wrong one on purpose. */
function passOf(state: State): Run {
  if (state.bug !== null) return withBug(state.run, state.bug);
  if (state.assign) return withBug(state.run, "assign");
  return state.ran ? inManner(state.run, { order: state.order }) : state.run;
}

/** The node that is asked about: the selected one, or the input with the smallest gradient. */
export function askedAbout({ run, selection }: State): number {
  return selection?.kind === "node" && run.graph.isVariable(selection.id) ? selection.id : smallestInput(run);
}
