/** The page: the graph and its steps on the left, one panel at a time on the right. */

import { Component, type ComponentType, createRef, type JSX, type RefObject } from "preact";
import { BUGS } from "./model/lab";
import { SVG_MOST } from "./layout/scene";
import type { State, Store, Tab } from "./state/store";
import { CanvasView } from "./views/canvasview";
import { Dialogs } from "./views/dialogs";
import { GraphView } from "./views/graphview";
import { Header } from "./views/header";
import { keyPressed } from "./views/keys";
import { Transport } from "./views/transport";
import { Bugs } from "./panels/bugs";
import { FormulaPanel } from "./panels/formula";
import { Game } from "./panels/game";
import { Influence } from "./panels/influence";
import { Ledger } from "./panels/ledger";
import { Predict } from "./panels/predict";
import { StepPanel } from "./panels/step";
import { Waterfall } from "./panels/waterfall";
import { Why } from "./panels/why";

/** The panels, in the order of their tabs. */
const PANELS: readonly { readonly tab: Tab; readonly name: string; readonly view: ComponentType<{ store: Store; state: State }> }[] = [
  { tab: "step", name: "Step", view: StepPanel },
  { tab: "waterfall", name: "Waterfall", view: Waterfall },
  { tab: "ledger", name: "Ledger", view: Ledger },
  { tab: "influence", name: "Thermometer", view: Influence },
  { tab: "formula", name: "Formula", view: FormulaPanel },
  { tab: "why", name: "Why?", view: Why },
  { tab: "game", name: "Order game", view: Game },
  { tab: "predict", name: "Predict", view: Predict },
  { tab: "bugs", name: "Bug lab", view: Bugs },
];

/** Narrower pages, in pixels, have the graph from top to bottom. */
export const NARROW = 620;
export class App extends Component<{ readonly store: Store }, { readonly state: State }> {
  private readonly graph = createRef<GraphView | CanvasView>();
  private readonly frame = createRef<HTMLDivElement>();
  private unsubscribe: () => void = () => undefined;
  private timer = 0;
  private resize: ResizeObserver | null = null;

  constructor(props: { readonly store: Store }) {
    super(props);
    this.state = { state: props.store.state };
  }

  override componentDidMount(): void {
    this.unsubscribe = this.props.store.subscribe(() => {
      this.setState({ state: this.props.store.state });
      this.tick();
    });
    this.resize = new ResizeObserver(([entry]) => this.props.store.turn(entry.contentRect.width < NARROW));
    if (this.frame.current) this.resize.observe(this.frame.current);
  }

  override componentWillUnmount(): void {
    this.resize?.disconnect();
    this.unsubscribe();
    clearTimeout(this.timer);
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
        class="explorer"
        data-theme={state.theme}
        tabIndex={-1}
        data-lm-suppress-shortcuts="true"
        onKeyDown={(event) => keyPressed(event, store, () => this.graph.current?.fit())}
      >
        <Header store={store} state={state} />
        <main>
          <div class="stage">
            {state.shown !== state.run && <WrongPass store={store} state={state} />}
            <div class="canvas">
              {state.scene.items.length > SVG_MOST ? (
                <CanvasView ref={this.graph} store={store} state={state} />
              ) : (
                <GraphView ref={this.graph} store={store} state={state} />
              )}
              <GraphTools store={store} state={state} view={this.graph} />
            </div>
            <Transport store={store} state={state} />
          </div>
          <aside>
            <div role="tablist" aria-label="Views" class="tabs">
              {PANELS.map(({ tab, name }) => (
                <button
                  key={tab}
                  type="button"
                  role="tab"
                  id={`tab-${tab}`}
                  aria-selected={tab === panel.tab}
                  aria-controls="panel"
                  tabIndex={tab === panel.tab ? 0 : -1}
                  onClick={() => store.setTab(tab)}
                >
                  {name}
                </button>
              ))}
            </div>
            {state.problem && (
              <p class="problem" role="alert">
                {state.problem}
              </p>
            )}
            <div role="tabpanel" id="panel" aria-labelledby={`tab-${panel.tab}`} tabIndex={-1} class="panels">
              <panel.view store={store} state={state} />
            </div>
          </aside>
        </main>
        <Dialogs store={store} state={state} />
      </div>
    );
  }
}

/** In the corner of the graph: folding and zoom. */
function GraphTools({ store, state, view }: { store: Store; state: State; view: RefObject<GraphView | CanvasView> }): JSX.Element {
  const { tree, open } = state;
  const closed = tree.groups.length - open.size;
  return (
    <div class="tools" role="group" aria-label="Graph">
      {tree.groups.length > 1 && (
        <button type="button" onClick={() => store.unfoldAll(closed > 0)}>
          {closed > 0 ? "Unfold all" : "Fold"}
        </button>
      )}
      <button type="button" aria-label="Zoom out" onClick={() => view.current?.zoom(0.8)}>
        −
      </button>
      <button type="button" aria-label="Zoom in" onClick={() => view.current?.zoom(1.25)}>
        +
      </button>
      <button type="button" onClick={() => view.current?.fit()} title="Fit (F)">
        Fit
      </button>
    </div>
  );
}

/** Over the graph while it shows a pass that is wrong on purpose. */
function WrongPass({ store, state }: { store: Store; state: State }): JSX.Element {
  const bug = BUGS.find(({ id }) => id === (state.assign ? "assign" : state.bug));
  return (
    <p class="warning wrong-pass" role="status">
      <span>{bug === undefined ? "This is the pass in the order that you placed." : `This pass is wrong on purpose: ${bug.name}.`}</span>
      <button type="button" onClick={() => store.makeRight()}>
        Back to the right one
      </button>
    </p>
  );
}
