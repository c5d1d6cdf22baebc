/** The page: the graph and its steps on the left, one panel at a time on the right. */

import { Component, createRef, type JSX } from "preact";
import { GraphView } from "./graphview";
import { keyPressed } from "./keys";
import { Influence } from "./panels/influence";
import { Ledger } from "./panels/ledger";
import { StepPanel } from "./panels/step";
import { Waterfall } from "./panels/waterfall";
import type { State, Store, Tab } from "./store";
import { Transport } from "./transport";

/** The panels, in the order of their tabs. */
const PANELS: readonly { readonly tab: Tab; readonly name: string; readonly view: (props: { store: Store; state: State }) => JSX.Element | null }[] = [
  { tab: "step", name: "Step", view: StepPanel },
  { tab: "waterfall", name: "Waterfall", view: Waterfall },
  { tab: "ledger", name: "Ledger", view: Ledger },
  { tab: "influence", name: "Thermometer", view: Influence },
];

export class App extends Component<{ readonly store: Store }, { readonly state: State }> {
  private readonly graph = createRef<GraphView>();
  private readonly frame = createRef<HTMLDivElement>();
  private unsubscribe: () => void = () => undefined;
  private timer = 0;

  constructor(props: { readonly store: Store }) {
    super(props);
    this.state = { state: props.store.state };
  }

  override componentDidMount(): void {
    this.unsubscribe = this.props.store.subscribe(() => {
      this.setState({ state: this.props.store.state });
      this.tick();
    });
  }

  override componentWillUnmount(): void {
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
        <header class="top">
          <h1>retrograd</h1>
          <code class="title">{state.run.graph.title}</code>
        </header>
        <main>
          <div class="stage">
            <GraphView ref={this.graph} store={store} state={state} />
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
                  onClick={() => store.set({ tab })}
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
      </div>
    );
  }
}
