/** The waterfall: the forward pass down one column, the backward pass down the other, as they mirror each other. */

import type { JSX } from "preact";
import { additionText, operationText } from "../words/sentences";
import { addsUnseen } from "../state/state";
import type { State, Store } from "../state/store";
import { inSigns, writer } from "../parts/num";

interface Props {
  readonly store: Store;
  readonly state: State;
}

/** Around the cursor so many steps are listed. */
const AROUND = 60;

export function Waterfall({ store, state }: Props): JSX.Element {
  const { shown, step } = state;
  const all = Array.from({ length: shown.stepCount }, (_, k) => k);
  const near = shown.stepCount > 2 * AROUND ? all.filter((k) => Math.abs(k - step) <= AROUND) : all;
  const column = (backward: boolean): JSX.Element => (
    <ol class={backward ? "column backward" : "column forward"} aria-label={backward ? "Backward pass" : "Forward pass"}>
      {near.filter((k) => shown.isBackward(k) === backward).map((k) => (
        <Row key={k} at={k} store={store} state={state} />
      ))}
    </ol>
  );
  return (
    <div class="panel waterfall">
      <h2>Forward: compute data</h2>
      {column(false)}
      <h2>Backward: compute gradients</h2>
      {column(true)}
    </div>
  );
}

function Row({ at, store, state }: Props & { at: number }): JSX.Element {
  const { step } = state;
  const classes = at === step ? "now" : at > step ? "later" : "";
  return (
    <li class={classes} aria-current={at === step ? "step" : undefined}>
      <button type="button" onClick={() => store.goTo(at)}>
        {lines(state, at).map((line) => inSigns(line, state.printed)).map((line, k) => (
          <span key={k} class={k === 0 ? "head" : "line"}>
            {line}
          </span>
        ))}
      </button>
    </li>
  );
}

function lines(state: State, at: number): string[] {
  const { shown, step } = state;
  const { graph } = shown;
  const node = shown.nodeOf(at);
  const say = writer(state);
  if (node === null) {
    const leaves = graph.leaves.slice(0, 12).map((leaf) => `${graph.names[leaf]} = ${say(shown.data[leaf])}`);
    return [`Inputs${graph.leaves.length > 12 ? ` (${graph.leaves.length})` : ""}`, leaves.join(", ")];
  }
  if (at < shown.forwardCount) {
    const text = operationText(shown, node, say);
    return at > step ? [`${graph.names[node]} = ${graph.formula(node)}`] : [text];
  }
  if (at === shown.forwardCount) return [`Seed: ${graph.names[node]}.grad = 1.0`, `how much does ${graph.names[node]} change ${graph.names[node]}? 1`];
  const head = `Visit ${graph.names[node]} = ${graph.formula(node)}`;
  if (addsUnseen(state, at)) return [head];
  const sums = shown.additionsOf(at).slice(0, 12).map((item) => additionText(shown, item, state.assign ? "=" : "+=", say));
  return [head, ...(sums.length ? sums : ["nothing flows on"])];
}
