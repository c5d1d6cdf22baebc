/** A figure: the explorer's graph and steps on a trace of its own, with the panel that the chapter asks for. */

import { Component, type ComponentType, createRef, type JSX } from "preact";
import { buildScene, SVG_MOST } from "../layout/scene";
import { FoldTree } from "../model/fold";
import { splitInputs } from "../model/program";
import type { Run } from "../model/run";
import { Influence } from "../panels/influence";
import { Ledger } from "../panels/ledger";
import { Inputs } from "../panels/inputs";
import { StepPanel } from "../panels/step";
import { Waterfall } from "../panels/waterfall";
import { Why } from "../panels/why";
import type { State, Store } from "../state/store";
import type { Payload } from "../trace/decode";
import { GraphTools } from "../views/graphtools";
import { GraphView } from "../views/graphview";
import { READABLE, type ViewBox } from "../views/viewbox";
import { Transport } from "../frame/transport";
import type { FigureJson, Target, Words } from "./course";
import { Descent } from "./descent";
import { type Link, stepOf } from "./link";
import { Listing } from "./listing";
import { Nudge } from "./nudge";
import { calm, type PanelProps, storeOf } from "./parts";
import { Search } from "./search";

/** The gradient thermometer; steps downhill are a panel of their own. */
function Thermometer({ store, state, figure }: PanelProps): JSX.Element {
  return <Influence store={store} state={state} unitsDiffer={figure.options.units === "differ"} bare />;
}

/** The panels by the names that a chapter uses. */
const PANELS: Readonly<Record<string, ComponentType<PanelProps>>> = {
  nudge: Nudge,
  inputs: Inputs,
  step: StepPanel,
  ledger: Ledger,
  thermometer: Thermometer,
  waterfall: Waterfall,
  why: Why,
  search: Search,
  descent: Descent,
  listing: Listing,
};

interface Props {
  readonly figure: FigureJson;
  readonly words: Words;
  readonly theme: string;
  /** Significant digits in its tables; null for as many as the reader has chosen. */
  readonly digits: number | null;
  /** Its gradients are asked for in an assignment, and not shown. */
  readonly covered: boolean;
  /** The nodes whose gradient a question asks for that is still open; true for a pass that is wrong on purpose. */
  readonly secret: ReadonlyMap<number, boolean>;
  /** What the page's link says about this figure. */
  readonly link: Link | null;
}

/** Of the graph, in pixels: less where a panel stands below it. */
const LEAST = 150;
const MOST = { alone: 480, withPanel: 330 };
/** A graph with so many nodes may be unfolded all at once. */
const UNFOLDED = SVG_MOST / 3;
/** Of the window's height, where the graph stays in view above the text that scrolls. */
const HELD = 0.34;
const MARGIN = 56;

interface Shown {
  readonly state: State;
  /** For the graph, in pixels: how wide its frame is, and how high it may be. */
  readonly room: number;
  readonly most: number;
  /** The sentence that led here. */
  readonly from: HTMLElement | null;
  /** The view was moved, or not all of the graph can be read at once. */
  readonly tools: boolean;
}

export class Figure extends Component<Props, Shown> {
  private readonly store: Store;
  /** The numbers with which the figure began. */
  private readonly original: Float64Array;
  /** The run that the text, or a link, has set last. */
  private set: Run;
  private readonly frame = createRef<HTMLElement>();
  private readonly held = createRef<HTMLDivElement>();
  private readonly graph = createRef<GraphView>();
  private unsubscribe: () => void = () => undefined;
  private resize: ResizeObserver | null = null;
  private timer = 0;
  private measured: unknown = null;
  /** The size with which the graph was fitted last. */
  private drawn = "";
  /** The node that a sentence is about, until it is in view. */
  private wanted: number | null = null;
  private handled = false;

  constructor(props: Props) {
    super(props);
    this.store = storeOf(props.figure.payload);
    this.store.goTo(props.figure.step);
    const node = this.store.state.run.graph.find(props.figure.options.node ?? "");
    if (node !== undefined) this.store.select({ kind: "node", id: node });
    if (props.figure.options.panel?.split(" ").includes("why")) this.store.setTab("why");
    if (props.digits !== null) this.store.set({ digits: props.digits });
    if (props.covered) this.store.set({ answers: "locked" });
    this.store.set({ secret: props.secret });
    if (props.link !== null) follow(this.store, props.link, props.words);
    this.set = this.store.state.run;
    this.original = this.set.data;
    this.state = { state: this.store.state, room: 560, most: this.mostOf(false), from: null, tools: this.store.state.tree.groups.length > 1 };
  }

  override componentDidMount(): void {
    this.unsubscribe = this.store.subscribe(() => {
      this.setState({ state: this.store.state });
      this.tick();
      if (this.measured !== this.store.state.open) this.measure();
    });
    const [frame, held] = [this.frame.current, this.held.current];
    if (frame === null || held === null) return;
    this.resize = new ResizeObserver(() => this.measure());
    this.resize.observe(held);
    // In a page that scrolls, the wheel scrolls; with Ctrl it zooms the graph.
    frame.addEventListener("wheel", (event) => !event.ctrlKey && event.stopPropagation(), { capture: true, passive: true });
    this.measure();
  }

  override componentWillUnmount(): void {
    this.unsubscribe();
    this.resize?.disconnect();
    clearTimeout(this.timer);
  }

  private mostOf(stays: boolean): number {
    const most = this.props.figure.options.panel ? MOST.withPanel : MOST.alone;
    return stays ? Math.max(LEAST, Math.min(most, HELD * innerHeight)) : most;
  }

  /** From left to right or from top to bottom, whichever shows more. */
  private measure(): void {
    const held = this.held.current;
    const room = (held?.clientWidth ?? 0) - MARGIN;
    if (held === null || room <= 0) return;
    const { tree, open } = this.store.state;
    this.measured = open;
    const layouts = [false, true].map((vertical) => buildScene(tree, open, vertical).layout);
    const scales = (most: number): number[] => layouts.map((layout) => Math.min(1, room / layout.width, (most - MARGIN) / layout.height));
    // The height of a telephone's window changes while one scrolls: the graph's does not.
    let { most } = this.state;
    if (room !== this.state.room) {
      const stays = getComputedStyle(held).position === "sticky";
      most = this.mostOf(stays);
      // What could not be read in it has more room.
      if (!stays && Math.max(...scales(most)) < READABLE) most = MOST.alone;
      this.setState({ room, most });
    }
    const [across, down] = scales(most);
    this.store.turn(down > 1.15 * across);
    this.measured = this.store.state.open;
  }

  /** As high as the graph needs in its width. */
  private get height(): number {
    const { layout } = this.state.state.scene;
    const scale = Math.min(1, this.state.room / layout.width);
    return Math.round(Math.max(LEAST, Math.min(this.state.most, layout.height * scale + MARGIN)));
  }

  override componentDidUpdate(): void {
    const { secret } = this.props;
    if (secret.size !== this.store.state.secret.size) this.store.set({ secret });
    const size = `${this.state.room} ${this.height}`;
    const fresh = size !== this.drawn;
    this.drawn = size;
    if (fresh) this.graph.current?.home();
    if (this.wanted !== null) this.graph.current?.look(this.wanted);
    this.wanted = null;
  }

  /** Once its size is known, a view that shows not all so that it can be read has its controls; and they stay. */
  private readonly viewed = (view: ViewBox): void => {
    if (this.drawn !== "" && view.isAway && !this.state.tools) this.setState({ tools: true });
  };

  private tick(): void {
    if (!this.store.state.playing) {
      clearTimeout(this.timer);
      this.timer = 0;
    } else if (this.timer === 0) {
      this.timer = window.setTimeout(() => {
        this.timer = 0;
        this.store.forward();
        this.tick();
      }, 1000 / this.store.state.speed);
    }
  }

  /** The reader is at work on it or has changed its inputs, it runs, or it shows what a link asked for: what is merely read moves it not. */
  get isTaken(): boolean {
    const frame = this.frame.current;
    const { data } = this.store.state.run;
    const edited = this.store.state.run.graph.leaves.some((leaf) => data[leaf] !== this.set.data[leaf]);
    return edited || this.props.link !== null || this.handled || this.store.state.playing || frame?.querySelector(":focus-visible, [data-running]") != null;
  }

  /** A link has put another program in the place of the chapter's: the sentences are not about it. */
  private get isOther(): boolean {
    return this.store.state.program !== null;
  }

  /** From a press or a key in the figure until the pointer leaves it. */
  private readonly take = (): void => {
    this.handled = true;
  };

  private readonly leave = (): void => {
    this.handled = false;
  };

  /** Put the figure where a sentence is. */
  go(target: Target): void {
    const { store } = this;
    if (this.isOther) return;
    store.makeRight();
    this.setInputs(new Map(target.values ?? []));
    // The ledger has a switch for this one, which then says the same.
    if (target.wrong === "assign") store.setAssign(true);
    else if (target.wrong !== undefined) store.setBug(target.wrong);
    store.select(null);
    const step = target.step === "end" ? store.state.shown.stepCount - 1 : target.step;
    store.goTo(step, !calm() && step !== store.state.step);
    if (target.node !== undefined) {
      this.wanted = target.node;
      store.show(target.node);
    }
    if (target.edge !== undefined) store.select({ kind: "edge", id: target.edge });
  }

  /** The inputs of the program, but for those that a sentence sets: its numbers are about these. */
  private setInputs(others: ReadonlyMap<number, number>): void {
    const { graph, data } = this.store.state.run;
    const wanted = graph.leaves.map((leaf): [number, number] => [leaf, others.get(leaf) ?? this.original[leaf]]);
    const changed = wanted.filter(([leaf, value]) => data[leaf] !== value);
    if (changed.length) this.store.editAll(new Map(changed));
    this.set = this.store.state.run;
  }

  /** Bring the figure into view, with the way back to where the reader was. */
  lookAt(from: HTMLElement): void {
    // In one column the figure has no box of its own, and the part that stays in view counts.
    const place = [this.frame.current, this.held.current].find((part) => part && part.getBoundingClientRect().height > 0);
    const box = place?.getBoundingClientRect();
    if (place && box && (box.top < -1 || box.bottom > innerHeight + 1)) {
      place.scrollIntoView({ block: box.height > innerHeight ? "start" : "nearest", behavior: calm() ? "auto" : "smooth" });
      this.setState({ from });
    }
  }

  private readonly back = (): void => {
    const { from } = this.state;
    // First without this button, which takes room above the text.
    this.setState({ from: null }, () => {
      from?.focus({ preventScroll: true });
      from?.scrollIntoView({ block: "start" });
    });
  };

  private readonly pressed = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.store.state.shown.stepCount - 1;
    const actions: Record<string, () => void> = {
      ArrowRight: () => this.store.forward(),
      ArrowLeft: () => this.store.back(),
      Home: () => this.store.goTo(0),
      End: () => this.store.goTo(last),
      f: () => this.graph.current?.fit(),
      Backspace: () => this.store.foldAround(),
    };
    if (target.dataset.group !== undefined) actions.Enter = () => this.store.toggleGroup(Number(target.dataset.group));
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };

  override render(): JSX.Element {
    const { figure, words, theme } = this.props;
    const { state, from, tools } = this.state;
    const { store } = this;
    const panels = (figure.options.panel ?? "").split(" ").filter((name) => name in PANELS);
    return (
      <figure ref={this.frame} class="explorer figure" data-theme={theme} data-figure={figure.name} onKeyDown={this.pressed} onPointerDown={this.take} onPointerLeave={this.leave}>
        {this.isOther ? (
          <figcaption>{words.say("link_program", { program: state.program?.text ?? "" })}</figcaption>
        ) : (
          figure.caption && <figcaption dangerouslySetInnerHTML={{ __html: figure.caption }} />
        )}
        {state.shown !== state.run && (
          <p class="warning wrong-pass" role="status">
            <span>{words.say("wrong_pass")}</span>
            <button type="button" onClick={() => store.makeRight()}>
              {words.say("right_pass")}
            </button>
          </p>
        )}
        <div ref={this.held} class="held">
          <div class="canvas" style={{ height: `${this.height}px` }}>
            <GraphView ref={this.graph} store={store} state={state} onView={this.viewed} />
            {tools && <GraphTools store={store} state={state} view={this.graph} most={UNFOLDED} wheel="Ctrl and mouse wheel" />}
          </div>
          <Transport store={store} state={state} />
        </div>
        {state.problem && (
          <p class="problem" role="alert">
            {state.problem.text}
          </p>
        )}
        {panels.map((name) => {
          const Panel = PANELS[name];
          return (
            <div class={`beside ${name}-panel`} key={name}>
              <Panel store={store} state={state} figure={figure} words={words} />
            </div>
          );
        })}
        {from !== null && (
          <button type="button" class="back-to-text" onClick={this.back}>
            {words.say("back_to_text")}
          </button>
        )}
      </figure>
    );
  }
}

/** What an assignment link asks of a figure. */
function follow(store: Store, link: Link, words: Words): void {
  if (link.program) store.open(splitInputs(link.program));
  const { problem } = store.state;
  const unknown = link.set.filter(([name]) => store.state.run.graph.find(name) === undefined).map(([name]) => name);
  for (const [name, value] of link.set) {
    const leaf = store.state.run.graph.find(name);
    if (leaf !== undefined) store.edit(leaf, value);
  }
  const [step, count] = [link.step === "" ? store.state.step : stepOf(link.step, store.state.shown), store.state.shown.stepCount];
  if (step < count) store.goTo(step);
  const said = [
    ...(unknown.length ? [words.say("link_no_input", { names: unknown.join(", ") })] : []),
    ...(step < count ? [] : [words.say("link_no_step", { step: link.step, count })]),
  ];
  if (problem !== null) store.set({ problem });
  else if (said.length) store.set({ problem: { text: said.join(" ") } });
}

/** The graph of an order question, which is only looked at. */
export class Still extends Component<{ readonly payload: Payload; readonly theme: string; readonly label: string }> {
  private readonly store = storeOf(this.props.payload);
  private readonly frame = createRef<HTMLDivElement>();
  private readonly graph = createRef<GraphView>();

  override componentDidMount(): void {
    const { run, open } = this.store.state;
    this.store.goTo(run.forwardCount - 1);
    const tree = new FoldTree(run.graph, null);
    const room = (this.frame.current?.clientWidth ?? 600) - MARGIN;
    this.store.turn(buildScene(tree, open, false).layout.width > 1.3 * room);
    this.forceUpdate(() => this.graph.current?.fit());
  }

  override render(): JSX.Element {
    const { layout } = this.store.state.scene;
    const room = (this.frame.current?.clientWidth ?? 600) - MARGIN;
    const height = Math.min(380, layout.height * Math.min(1, room / layout.width) + MARGIN);
    return (
      <div ref={this.frame} class="explorer still" data-theme={this.props.theme} aria-label={this.props.label}>
        <div class="canvas" style={{ height: `${Math.round(height)}px` }}>
          <GraphView ref={this.graph} store={this.store} state={this.store.state} />
        </div>
      </div>
    );
  }
}
