/** Predict, then reveal: say what a step adds before it is shown. Scored, and played by keyboard alone if you like. */

import { Component, createRef, type JSX } from "preact";
import { readNumber, repr } from "../model/numbers";
import { additionText, edgeFormula } from "../words/sentences";
import type { State, Store } from "../state/store";

interface Props {
  readonly store: Store;
  readonly state: State;
}

export class Predict extends Component<Props> {
  private readonly form = createRef<HTMLFormElement>();

  override componentDidMount(): void {
    const { store, state } = this.props;
    if (state.predict === null) store.startPrediction();
    else this.focus();
  }

  override componentDidUpdate(before: Props): void {
    const { state } = this.props;
    if (state.step !== before.state.step || state.hidden !== before.state.hidden) this.focus();
  }

  private focus(): void {
    (this.form.current?.querySelector<HTMLElement>("input") ?? this.form.current?.querySelector<HTMLElement>("button"))?.focus();
  }

  private readonly submit = (event: Event): void => {
    event.preventDefault();
    const { store, state } = this.props;
    if (!state.hidden) return store.nextPrediction();
    const fields = [...(this.form.current?.querySelectorAll("input") ?? [])];
    store.reveal(fields.map((field) => readNumber(field.value)));
  };

  override render(): JSX.Element {
    const { store, state } = this.props;
    const { predict, shown, step } = state;
    const items = shown.additionsOf(step);
    const node = shown.nodeOf(step);
    const { graph, additions } = shown;
    if (predict === null || predict.done || node === null || items.length === 0) return <Finished store={store} state={state} />;
    const name = graph.names[node];
    return (
      <form class="panel predict" ref={this.form} onSubmit={this.submit} key={step}>
        <Score state={state} />
        <p>
          The backward pass visits <b>{name}</b> = {graph.formula(node)}. Its gradient is <b class="number">{repr(shown.gradient(node, step - 1) ?? 0)}</b>. What
          does it add?
        </p>
        {items.map((item, k) => {
          const edge = additions.edge[item];
          const answer = predict.answers[k];
          const right = !state.hidden && predict.marks[k];
          return (
            <label key={edge} class={state.hidden ? "" : right ? "right" : "wrong"}>
              <span>
                {graph.names[graph.from[edge]]}.grad +=
                {items.filter((own) => graph.from[additions.edge[own]] === graph.from[edge]).length > 1 && <small> as operand {graph.slots[edge] + 1}</small>}
              </span>
              {state.hidden ? (
                <input type="text" inputMode="decimal" autocomplete="off" aria-label={`What is added to ${graph.names[graph.from[edge]]}.grad`} />
              ) : (
                <output>
                  {answer === answer ? repr(answer) : "–"} {right ? "✓ right" : `✗ it is ${repr(additions.contribution[item])}`}
                </output>
              )}
            </label>
          );
        })}
        {!state.hidden && items.map((item) => (
          <p class="sum back" key={item}>
            {additionText(shown, item)}
          </p>
        ))}
        {state.hidden && <p class="hint">Local derivatives: {items.map((item) => localHint(state, additions.edge[item])).join(", ")}.</p>}
        <p class="actions">
          <button type="submit" class="primary">
            {state.hidden ? "Reveal" : "Next"} <kbd>Enter</kbd>
          </button>
        </p>
      </form>
    );
  }
}

function localHint(state: State, edge: number): string {
  const { graph } = state.shown;
  return `∂${graph.names[graph.to[edge]]}/∂${graph.names[graph.from[edge]]} = ${edgeFormula(state.shown, edge)}`;
}

function Score({ state }: { state: State }): JSX.Element {
  const { right, asked } = state.predict ?? { right: 0, asked: 0 };
  return (
    <p class="score" aria-live="polite">
      {asked === 0 ? "Predict, then reveal." : `${right} of ${asked} right`}
    </p>
  );
}

function Finished({ store, state }: Props): JSX.Element {
  return (
    <div class="panel predict">
      <Score state={state} />
      <p>{state.predict?.done && state.predict.asked ? "That was the whole backward pass." : "This step adds nothing, so that there is nothing to predict."}</p>
      <p class="actions">
        <button type="button" class="primary" onClick={() => store.startPrediction()}>
          From the start
        </button>
      </p>
    </div>
  );
}
