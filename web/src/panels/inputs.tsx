/** The inputs, to be typed, dragged, or moved by a tenth: everything is computed again at once. */

import { Component, createRef, type ComponentChildren, type JSX } from "preact";
import { LEAF } from "../model/graph";
import { repr, typedNumber } from "../model/numbers";
import type { State, Store } from "../state/store";

interface Props {
  readonly store: Store;
  readonly state: State;
}

/** All of so many inputs are listed; of more, the selected one. */
const LISTED = 24;

export function Inputs({ store, state }: Props): JSX.Element {
  const { run } = state;
  const { graph } = run;
  const chosen = state.selection?.kind === "node" && graph.kinds[state.selection.id] === LEAF ? [state.selection.id] : [];
  const few = graph.leaves.length <= LISTED;
  const leaves = few ? graph.leaves : chosen;
  const note: ComponentChildren = few ? null : <p class="hint">Select an input in the graph to change it.</p>;
  if (!graph.computable) return <p class="hint">A node of this graph was made by a function of yours, so that the page cannot compute it again.</p>;
  return (
    <section class="inputs" role="group" aria-label="Inputs">
      <h2>
        Inputs <small>drag a name, or type: everything follows</small>
      </h2>
      {note}
      {run.graph.engine !== "page" && !run.python && !graph.written.expression?.[graph.root] && (
        <p class="hint">The recorded operations are computed again. A branch that your program took stays taken.</p>
      )}
      <div class="fields">
        {leaves.map((leaf) => (
          <Field key={leaf} leaf={leaf} store={store} state={state} />
        ))}
      </div>
    </section>
  );
}

/** One input: its name can be dragged like a slider, its number typed, and arrow keys move it. */
class Field extends Component<Props & { readonly leaf: number }> {
  private readonly drag = createRef<HTMLSpanElement>();
  private from: { readonly x: number; readonly value: number } | null = null;

  private readonly down = (event: PointerEvent): void => {
    const { store, state, leaf } = this.props;
    event.preventDefault();
    this.drag.current?.setPointerCapture(event.pointerId);
    this.from = { x: event.clientX, value: state.run.data[leaf] };
    store.grab();
    store.select({ kind: "node", id: leaf });
  };

  private readonly move = (event: PointerEvent): void => {
    const { store, leaf } = this.props;
    if (this.from === null) return;
    const unit = event.shiftKey ? 0.001 : Math.abs(this.from.value) >= 100 ? 1 : 0.01;
    store.edit(leaf, tidy(this.from.value + Math.round((event.clientX - this.from.x) / 2) * unit), true);
  };

  private readonly up = (): void => {
    this.from = null;
  };

  private readonly change = (event: Event & { readonly currentTarget: HTMLInputElement }): void => {
    const { store, leaf } = this.props;
    const { value } = event.currentTarget;
    const number = typedNumber(value);
    if (number === number) store.edit(leaf, number);
    else store.set({ problem: { text: `“${value}” is not a number. Write digits, such as 2, -0.5, 1/3 or 1e6.` } });
    event.currentTarget.value = repr(store.state.run.data[leaf]);
  };

  private readonly key = (event: KeyboardEvent): void => {
    const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    this.by(by);
  };

  private by(by: number): void {
    const { store, leaf } = this.props;
    const value = store.state.run.data[leaf];
    store.edit(leaf, tidy(value + by * (Math.abs(value) >= 100 ? 10 : 0.1)));
  }

  override render(): JSX.Element {
    const { state, leaf } = this.props;
    const { graph, data } = state.run;
    const name = graph.names[leaf];
    return (
      <div class={state.edits.has(leaf) ? "field edited" : "field"}>
        <span ref={this.drag} class="drag" title={`${name}: drag to the left or right`} onPointerDown={this.down} onPointerMove={this.move} onPointerUp={this.up} onPointerCancel={this.up}>
          {name}
        </span>
        <input type="text" inputMode="decimal" data-leaf={leaf} aria-label={name} value={repr(data[leaf])} onChange={this.change} onKeyDown={this.key} />
        <span class="nudges">
          <button type="button" aria-label={`${name} down`} onClick={() => this.by(-1)}>
            −
          </button>
          <button type="button" aria-label={`${name} up`} onClick={() => this.by(1)}>
            +
          </button>
        </span>
      </div>
    );
  }
}

/** Without a tail of digits. */
export function tidy(value: number): number {
  return Number(value.toPrecision(12));
}
