/** The state of the page and everything that changes it. Views read `store.state` and call its methods. */

import { backward, DomainProblem, evaluate, type Manner } from "./evaluate";
import { FoldTree, openAtFirst } from "./fold";
import type { ScopesJson } from "./decode";
import { repr } from "./numbers";
import { type Program, runProgram } from "./program";
import { Run } from "./run";
import { buildScene, type Scene } from "./scene";

export type Tab = "step" | "waterfall" | "ledger" | "influence" | "formula" | "game" | "predict" | "bugs" | "why";
export type Selection = { readonly kind: "node" | "edge"; readonly id: number } | { readonly kind: "group"; readonly id: number };
export type Theme = "auto" | "light" | "dark";

/** Boxes that are seen at first. */
export const AT_FIRST = 110;

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
  /** While predicting, the gradients of the step to come are not shown. */
  readonly hidden: boolean;
}

export class Store {
  state: State;
  /** The run that the page was opened with, and its folding. */
  private past: Snapshot[] = [];
  private future: Snapshot[] = [];
  private readonly listeners = new Set<() => void>();

  constructor(run: Run, program: Program | null, scopes: ScopesJson | null) {
    const tree = new FoldTree(run.graph, scopes);
    const open = openAtFirst(tree, AT_FIRST);
    this.state = {
      run,
      shown: run,
      edits: new Map(),
      program,
      tree,
      open,
      scene: buildScene(tree, open),
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
    this.set({ step: next, moving, playing: this.state.playing && next < last });
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

  // --- what is looked at --------------------------------------------------------------------------

  select(selection: Selection | null): void {
    this.set({ selection });
  }

  /** Select a node, opening the groups around it. */
  show(node: number): void {
    const open = new Set(this.state.open);
    for (let group = this.state.tree.home[node]; ; ) {
      open.add(group.id);
      if (group.parent === null) break;
      group = group.parent;
    }
    if (open.size !== this.state.open.size) this.setOpen(open);
    this.set({ selection: { kind: "node", id: node } });
  }

  toggleGroup(id: number): void {
    const open = new Set(this.state.open);
    if (!open.delete(id)) open.add(id);
    this.setOpen(open);
  }

  /** Close the group around the selected node. */
  foldAround(): void {
    const { selection, tree } = this.state;
    const group = selection?.kind === "node" ? tree.home[selection.id] : null;
    if (group === null || group.parent === null) return;
    this.toggleGroup(group.id);
    this.set({ selection: { kind: "group", id: group.id } });
  }

  setOpen(open: ReadonlySet<number>): void {
    this.set({ open, scene: buildScene(this.state.tree, open), moving: false });
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
      const open = openAtFirst(tree, AT_FIRST);
      this.set({ tree, open, scene: buildScene(tree, open), program, selection: null, step: 0, playing: false, dialog: null });
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
    const shown = this.inManner(run, this.state.assign ? { assign: true } : {});
    this.set({ run, edits, shown, problem: "", moving: false, step: Math.min(this.state.step, shown.stepCount - 1) });
  }

  private inManner(run: Run, manner: Manner): Run {
    return manner.assign ? backward(run.graph, run.data, run.local, run.zero, manner, false) : run;
  }

  setAssign(assign: boolean): void {
    this.set({ assign, shown: this.inManner(this.state.run, { assign }), moving: false });
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
    if (changed) this.set({ tree, open, program, scene: buildScene(tree, open), selection: null });
    this.setRun(snapshot.run, snapshot.edits);
  }
}
