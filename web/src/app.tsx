/** The page: the graph and its steps on the left, one panel at a time on the right. */

import { Component, type ComponentType, createRef, type JSX } from "preact";
import { BUGS } from "./lab/bugs";
import { isTopological } from "./lab/order";
import { SVG_MOST } from "./layout/scene";
import { AT_ONCE } from "./state/state";
import type { State, Store, Tab } from "./state/store";
import { CanvasView } from "./views/canvasview";
import { GraphTools } from "./views/graphtools";
import { GraphView } from "./views/graphview";
import { Bugs } from "./panels/bugs";
import { FormulaPanel } from "./panels/formula";
import { Game } from "./panels/game";
import { Influence } from "./panels/influence";
import { Ledger } from "./panels/ledger";
import { Predict } from "./panels/predict";
import { Slope } from "./panels/slope";
import { Sort } from "./panels/sort";
import { StepPanel } from "./panels/step";
import { Waterfall } from "./panels/waterfall";
import { Why } from "./panels/why";
import { Dialogs } from "./frame/dialogs";
import { Header } from "./frame/header";
import { keyPressed } from "./frame/keys";
import { ProblemNote } from "./frame/problem";
import { Tour } from "./frame/tour";
import { Transport } from "./frame/transport";

type Panel = { readonly tab: Tab; readonly name: string; readonly view: ComponentType<{ store: Store; state: State }> };

/** The panels, in the order of their tabs. */
const PANELS: readonly Panel[] = [
  { tab: "step", name: "Step", view: StepPanel },
  { tab: "ledger", name: "Ledger", view: Ledger },
  { tab: "waterfall", name: "Waterfall", view: Waterfall },
  { tab: "influence", name: "Thermometer", view: Influence },
  { tab: "slope", name: "Slope", view: Slope },
  { tab: "formula", name: "Formula", view: FormulaPanel },
  { tab: "why", name: "Why?", view: Why },
  { tab: "sort", name: "Search", view: Sort },
  { tab: "game", name: "Order game", view: Game },
  { tab: "predict", name: "Predict", view: Predict },
  { tab: "bugs", name: "Bug lab", view: Bugs },
];

interface Props {
  readonly store: Store;
  /** It is the whole page, whose keys are its own. */
  readonly page: boolean;
}

export class App extends Component<Props, { readonly state: State }> {
  private readonly graph = createRef<GraphView | CanvasView>();
  private readonly frame = createRef<HTMLDivElement>();
  private unsubscribe: () => void = () => undefined;
  private timer = 0;
  private resize: ResizeObserver | null = null;
  /** The focus is, or was last, on something in here. */
  private focused = false;

  constructor(props: Props) {
    super(props);
    this.state = { state: props.store.state };
  }

  override componentDidMount(): void {
    const { store, page } = this.props;
    this.unsubscribe = store.subscribe(() => {
      this.setState({ state: store.state });
      this.tick();
    });
    // What the views did when they were mounted came before anybody listened.
    this.setState({ state: store.state });
    this.resize = new ResizeObserver(([entry]) => store.fill(entry.contentRect));
    const canvas = this.frame.current?.querySelector(".canvas");
    if (canvas) this.resize.observe(canvas);
    document.addEventListener("focusin", this.follow);
    document.addEventListener("pointerdown", this.follow);
    if (page) document.addEventListener("keydown", this.strayKey);
  }

  override componentDidUpdate(): void {
    // What had the focus may be gone: the keyboard stays with the page.
    if (this.focused && document.activeElement === document.body) this.frame.current?.focus({ preventScroll: true });
  }

  override componentWillUnmount(): void {
    this.resize?.disconnect();
    this.unsubscribe();
    clearTimeout(this.timer);
    document.removeEventListener("focusin", this.follow);
    document.removeEventListener("pointerdown", this.follow);
    document.removeEventListener("keydown", this.strayKey);
  }

  private readonly follow = (event: Event): void => {
    this.focused = event.target instanceof Node && (this.frame.current?.contains(event.target) ?? false);
  };

  /** A key that nothing had asked for, on a page that is all ours. */
  private readonly strayKey = (event: KeyboardEvent): void => {
    if (event.target === document.body && this.frame.current) this.press(event, this.frame.current);
  };

  private press(event: KeyboardEvent, target: HTMLElement): void {
    keyPressed(event, target, this.props.store, () => this.graph.current?.fit());
  }

  /** While playing, the next step after its time. */
  private tick(): void {
    const { store } = this.props;
    if (!store.state.playing) {
      clearTimeout(this.timer);
      this.timer = 0;
    } else if (this.timer === 0) {
      this.timer = window.setTimeout(() => {
        this.timer = 0;
        store.forward();
        this.tick();
      }, 1000 / store.state.speed);
    }
  }

  override render(): JSX.Element {
    const { store } = this.props;
    const { state } = this.state;
    const panel = PANELS.find(({ tab }) => tab === state.tab) ?? PANELS[0];
    return (
      <div
        ref={this.frame}
        class={state.figure ? "explorer figure" : "explorer"}
        data-theme={state.theme}
        tabIndex={-1}
        data-lm-suppress-shortcuts="true"
        onKeyDown={(event) => this.press(event, event.target as HTMLElement)}
      >
        {!state.figure && <Header store={store} state={state} />}
        <ProblemNote store={store} state={state} />
        <main>
          <div class="stage">
            {isWrong(state) && <WrongPass store={store} state={state} />}
            <div class="canvas">
              {state.scene.items.length > SVG_MOST ? (
                <CanvasView ref={this.graph} store={store} state={state} />
              ) : (
                <GraphView ref={this.graph} store={store} state={state} />
              )}
              <GraphTools store={store} state={state} view={this.graph} most={Infinity} wheel="mouse wheel" />
            </div>
            <Transport store={store} state={state} />
          </div>
          {state.views?.length !== 0 && (
            <aside>
              <Tabs store={store} state={state} panel={panel} />
              <div role="tabpanel" id="panel" aria-labelledby={`tab-${panel.tab}`} tabIndex={-1} class="panels">
                <panel.view store={store} state={state} />
              </div>
            </aside>
          )}
        </main>
        <Dialogs store={store} state={state} />
        {state.tour !== null && <Tour store={store} state={state} />}
      </div>
    );
  }
}

/** The first views, the one that is open, and behind "More" the others. */
function Tabs({ store, state, panel }: { store: Store; state: State; panel: Panel }): JSX.Element {
  const { views, more } = state;
  const listed = PANELS.filter(({ tab }, place) => (views === null ? more || place < AT_ONCE || tab === panel.tab : views.includes(tab)));
  return (
    <div class="tabs">
      <div role="tablist" aria-label="Views">
        {listed.map(({ tab, name }) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`tab-${tab}`}
            data-name={name}
            aria-selected={tab === panel.tab}
            aria-controls="panel"
            tabIndex={tab === panel.tab ? 0 : -1}
            onClick={() => store.setTab(tab)}
          >
            {name}
          </button>
        ))}
      </div>
      {views === null && (
        <button type="button" class="more" aria-expanded={more} onClick={() => store.set({ more: !more })}>
          {more ? "Less" : "More"}
        </button>
      )}
    </div>
  );
}

/** Whether the pass that is shown is not the right one. */
function isWrong({ run, shown, ran, order }: State): boolean {
  return shown !== run && !(ran && isTopological(run, order));
}

/** Over the graph while it shows a pass that is wrong on purpose. */
function WrongPass({ store, state }: { store: Store; state: State }): JSX.Element {
  const bug = BUGS.find(({ id }) => id === (state.assign ? "assign" : state.bug));
  return (
    <p class="warning wrong-pass" role="status">
      <span>
        {bug === undefined ? "This is the pass in the order that you placed: a visited node takes nothing more." : `This pass is wrong on purpose: ${bug.name}.`}
      </span>
      <button type="button" onClick={() => store.makeRight()}>
        Back to the right one
      </button>
    </p>
  );
}
