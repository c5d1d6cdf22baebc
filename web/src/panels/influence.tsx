/** The gradient thermometer: the inputs ranked by their influence on the result, with their signs. */

import type { JSX } from "preact";
import { repr, signed } from "../model/numbers";
import type { State, Store } from "../state/store";
import { tone } from "../views/tone";

interface Props {
  readonly store: Store;
  readonly state: State;
}

const MOST = 30;

export function Influence({ store, state }: Props): JSX.Element {
  const { shown, step } = state;
  const { graph } = shown;
  const root = graph.names[graph.root];
  const rows = graph.leaves.map((leaf) => ({ leaf, grad: shown.gradient(leaf, step) ?? 0 }));
  rows.sort((a, b) => Math.abs(b.grad) - Math.abs(a.grad));
  const largest = Math.abs(rows[0]?.grad ?? 0);
  const [up, down] = [rows.find((row) => row.grad > 0), rows.find((row) => row.grad < 0)];
  const raise = [up && `raise ${graph.names[up.leaf]}`, down && `lower ${graph.names[down.leaf]}`].filter(Boolean).join(" or ");
  return (
    <div class="panel influence">
      <p class="hint">
        How much {root} changes when an input grows by a little. The strongest stands first.
      </p>
      {!shown.isBackward(step) && <p class="hint">The backward pass has not begun: there are no gradients yet.</p>}
      <ol class="bars">
        {rows.slice(0, MOST).map(({ leaf, grad }) => {
          const share = largest > 0 && Number.isFinite(largest) ? Math.abs(grad) / largest : 0;
          const chosen = state.selection?.kind === "node" && state.selection.id === leaf;
          return (
            <li key={leaf}>
              <button type="button" class={chosen ? "chosen" : ""} onClick={() => store.show(leaf)} aria-label={`${graph.names[leaf]}: gradient ${repr(grad)}`}>
                <span class="name">{graph.names[leaf]}</span>
                <span class="meter">
                  <span class={`fill ${tone(grad)}`} style={{ width: `${50 * share}%`, [grad < 0 ? "right" : "left"]: "50%" }} />
                </span>
                <span class={`number ${tone(grad)}`}>{signed(grad)}</span>
              </button>
            </li>
          );
        })}
      </ol>
      {rows.length > MOST && <p class="hint">and {rows.length - MOST} more inputs</p>}
      {raise && step === shown.stepCount - 1 && (
        <p class="reading">
          To make {root} larger, {raise}.
        </p>
      )}
    </div>
  );
}
