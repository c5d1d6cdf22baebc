/** The one place that changes the state. Views read `store.state` and call its methods. */

import { DomainProblem, evaluate } from "../model/evaluate";
import { alone, type Folding, FoldTree, openAtFirst } from "../model/fold";
import { FormulaError } from "../model/formula";
import { repr } from "../model/numbers";
import { type Program, runProgram } from "../model/program";
import type { Run } from "../model/run";
import { inManner, withBug } from "../lab/bugs";
import { smallestInput } from "../lab/paths";
import { encode } from "../trace/encode";
import { buildScene, type Room, type Scene } from "../layout/scene";
import { remembered, remember } from "./memory";
import type { Selection, Snapshot, State, Tab } from "./state";

export type { Selection, State, Tab, Theme } from "./state";

/** At first about `most` boxes are shown; a graph of up to `whole` nodes is shown whole. */
export interface AtFirst {
  readonly whole: number;
  readonly most: number;
}

export const AT_FIRST: AtFirst = { whole: 80, most: 26 };

export class Store {
  state: State;
  private past: Snapshot[] = [];
  private future: Snapshot[] = [];
  private readonly listeners = new Set<() => void>();

  constructor(
    run: Run,
    program: Program | null,
    folding: Folding | null,
    /** The room that the graph has, once it is known; or whether it goes from top to bottom. */
    private room: Room | boolean | null = null,
    private readonly atFirst: AtFirst = AT_FIRST,
  ) {
    const tree = new FoldTree(run.graph, folding);
    const open = this.firstOpen(tree);
    this.state = {
      run,
      shown: run,
      edits: new Map(),
      program,
      tree,
      open,
      scene: buildScene(tree, open, this.room),
      step: 0,
      playing: false,
      speed: 1,
      selection: null,
      assign: false,
      tab: "step",
      views: null,
      more: false,
      theme: remembered("theme", "auto"),
      digits: Number(remembered("digits", "4")),
      printed: false,
      figure: false,
      problem: null,
      dialog: null,
      moving: false,
      hint: true,
      tour: null,
      hidden: false,
      answers: "shown",
      predict: null,
      secret: new Map(),
      order: [],
      ran: false,
      search: 0,
      bug: null,
      descent: [],
      rate: 0.1,
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

  /** How the numbers and the colours are shown is remembered, where the browser allows it. */
  prefer(change: Partial<Pick<State, "theme" | "digits">>): void {
    for (const [name, value] of Object.entries(change)) remember(name, String(value));
    this.set(change);
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
    const asked = predict?.mode !== "steps" ? {} : { hidden: shown.additionsOf(next).length > 0, predict: { ...predict, answers: [], marks: [], done: false } };
    this.set({ step: next, moving, hint: false, playing: this.state.playing && next < last, ...asked });
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
    this.set({ playing: !playing, hint: false });
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

  /** Called with a node that should be brought into view, once what is drawn is up to date. */
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
    this.setOpen(all ? new Set(tree.groups.map((group) => group.id)) : this.firstOpen(tree));
  }

  /** Whether other groups are open than at first. */
  get isUnfolded(): boolean {
    const { tree, open } = this.state;
    const first = this.firstOpen(tree);
    return first.size !== open.size || [...first].some((id) => !open.has(id));
  }

  private firstOpen(tree: FoldTree): Set<number> {
    return openAtFirst(tree, this.atFirst.whole, this.atFirst.most);
  }

  /** The graph has this much room: lay it out in the direction in which it is seen larger. */
  fill(room: Room): void {
    const before = this.state.scene;
    this.room = room;
    const scene = this.laidOut(this.state.tree, this.state.open);
    if (scene.vertical !== before.vertical) this.set({ scene, moving: false });
  }

  /** Lay the graph out from top to bottom, or from left to right, whatever its room. */
  turn(vertical: boolean): void {
    this.room = vertical;
    if (vertical !== this.state.scene.vertical) this.setOpen(this.state.open);
  }

  private laidOut(tree: FoldTree, open: ReadonlySet<number>): Scene {
    return buildScene(tree, open, this.room);
  }

  setOpen(open: ReadonlySet<number>): void {
    const { selection } = this.state;
    const gone = selection?.kind === "group" && open.has(selection.id);
    this.set({ open, scene: this.laidOut(this.state.tree, open), moving: false, selection: gone ? null : selection });
  }

  // --- the numbers --------------------------------------------------------------------------------

  /** Put another number into a leaf and compute everything again. While `dragging`, undo goes back to where it began. */
  edit(leaf: number, value: number, dragging = false): void {
    this.editAll(new Map([[leaf, value]]), dragging);
  }

  /** Put other numbers into leaves. Returns whether they could be computed. */
  editAll(values: ReadonlyMap<number, number>, dragging = false): boolean {
    const { run, edits } = this.state;
    const inputs = run.data.slice();
    for (const [leaf, value] of values) inputs[leaf] = value;
    try {
      const next = evaluate(run.graph, inputs);
      if (!dragging) this.remember();
      this.setRun(next, new Map([...edits, ...values]));
      return true;
    } catch (problem) {
      this.refuse(problem, ` with ${[...values].map(([leaf, value]) => `${run.graph.names[leaf]} = ${repr(value)}`).join(", ")}`);
      return false;
    }
  }

  /** A drag begins: undo will bring back what is there now. */
  grab(): void {
    this.remember();
  }

  /** Another program in place of what is shown. Returns whether it could be computed. */
  open(program: Program): boolean {
    try {
      const run = runProgram(program);
      this.remember();
      const tree = new FoldTree(run.graph, null);
      const open = this.firstOpen(tree);
      this.set({ tree, open, scene: this.laidOut(tree, open), program, selection: null, step: 0, dialog: null });
      this.setRun(run, new Map());
      return true;
    } catch (problem) {
      this.refuse(problem, "", program.text);
      return false;
    }
  }

  /** Say what is wrong; of a typed text, where. */
  refuse(problem: unknown, context: string, typed?: string): void {
    if (!(problem instanceof Error)) throw problem;
    if (problem instanceof FormulaError && typed !== undefined) this.set({ problem: { text: problem.message, typed, at: problem.at } });
    else this.set({ problem: { text: problem instanceof DomainProblem ? `This has no value${context}: ${problem.message}.` : problem.message } });
  }

  private setRun(run: Run, edits: ReadonlyMap<number, number>): void {
    const other = run.graph !== this.state.run.graph;
    if (other) this.set({ order: [], ran: false, bug: null, assign: false, search: 0, descent: [] });
    const { predict } = this.state;
    if (predict !== null) this.set({ predict: null, hidden: false });
    this.pass({ run, edits, problem: null });
  }

  /** Change something that may change which pass is shown. */
  pass(change: Partial<State>): void {
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
    const { views, predict } = this.state;
    if (views !== null && !views.includes(tab)) return;
    if (tab !== "predict" && predict !== null) this.set({ predict: null, hidden: false });
    this.set({ tab });
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

  forgetChanges(): void {
    this.past = [];
    this.future = [];
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
    if (changed) this.set({ tree, open, program, scene: this.laidOut(tree, open), selection: null });
    this.setRun(snapshot.run, snapshot.edits);
  }
}

/** The pass that a state shows: the right one, or a wrong one on purpose. */
function passOf(state: State): Run {
  if (state.bug !== null) return withBug(state.run, state.bug);
  if (state.assign) return withBug(state.run, "assign");
  return state.ran ? inManner(state.run, { order: state.order, closed: true }) : state.run;
}

/** The node that is asked about: the selected one, or the input with the smallest gradient. */
export function askedAbout({ run, selection }: State): number {
  return selection?.kind === "node" && run.graph.isVariable(selection.id) ? selection.id : smallestInput(run);
}
