/** The gradient thermometer: the inputs ranked by their influence on the result, with their signs. */

import type { JSX } from "preact";
import { repr, rounded, signed } from "../model/numbers";
import { stepDownhill } from "../state/games";
import { allCovered } from "../state/state";
import type { State, Store } from "../state/store";
import { Covered } from "../parts/covered";
import { tone } from "../parts/tone";

interface Props {
  readonly store: Store;
  readonly state: State;
}

interface InfluenceProps extends Props {
  /** The inputs have different units: which influence is stronger, the sizes of their gradients do not say. */
  readonly unitsDiffer?: boolean;
  /** Without the steps downhill: what the program computes is nothing to be made small. */
  readonly bare?: boolean;
}

const MOST = 30;

export function Influence({ store, state, unitsDiffer = false, bare = false }: InfluenceProps): JSX.Element {
  const { shown, step } = state;
  const { graph } = shown;
  if (allCovered(state)) return <Covered store={store} />;
  const root = graph.names[graph.root];
  const whole = step === shown.stepCount - 1;
  const rows = graph.leaves.map((leaf) => ({ leaf, grad: shown.gradient(leaf, step) ?? 0 }));
  rows.sort((a, b) => Math.abs(b.grad) - Math.abs(a.grad));
  const largest = Math.abs(rows[0]?.grad ?? 0);
  const raise = larger(rows.map(({ leaf, grad }) => [graph.names[leaf], grad]), !unitsDiffer);
  return (
    <div class="panel influence">
      <p class="hint">
        How much {root} changes for each unit by which an input grows: the largest first, and the bars to scale.{" "}
        {unitsDiffer ? "The inputs have different units, so a longer bar is not a stronger influence." : `${root}.grad itself is always 1.`}
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
              {whole && rows.length <= SPOKEN && <p class="hint">{reading(graph.names[leaf], root, grad, unitsDiffer ? [] : rows.map((row) => Math.abs(row.grad)))}</p>}
            </li>
          );
        })}
      </ol>
      {rows.length > MOST && <p class="hint">and {rows.length - MOST} more inputs</p>}
      {raise && whole && (
        <p class="reading">
          To make {root} larger, {raise}.
        </p>
      )}
      {whole && !bare && graph.computable && state.shown === state.run && <Downhill store={store} state={state} />}
    </div>
  );
}

/** `lower a, raise b or raise c; the first does most`, where they can be compared; empty where nothing helps. */
function larger(rows: readonly (readonly [string, number])[], ranked: boolean): string {
  const ways = rows.filter(([, grad]) => grad !== 0 && grad === grad).map(([name, grad]) => `${grad > 0 ? "raise" : "lower"} ${name}`);
  const told = ways.slice(0, TOLD);
  const last = told.pop() ?? "";
  const [, first] = rows[0] ?? ["", 0];
  const alone = ranked && rows.filter(([, grad]) => Math.abs(grad) === Math.abs(first)).length === 1;
  return told.length ? `${told.join(", ")} or ${last}${alone ? "; the first does most" : ""}` : last;
}

/** The inputs that are named so. */
const TOLD = 4;

/** Up to so many inputs each have a sentence. */
const SPOKEN = 12;

/** `Strongest influence, negative: increase a and L drops.`, as `retrograd explain` says it (see trace/render.py); without `sizes`, no rank. */
function reading(name: string, root: string, grad: number, sizes: readonly number[]): string {
  if (grad !== grad) return `Not a number: no direction can be given for ${name}.`;
  if (grad === 0) return `No influence: ${root} does not change with ${name} here.`;
  const then = `increase ${name} and ${root} ${grad > 0 ? "rises" : "drops"}.`;
  if (sizes.length === 0) return `${grad > 0 ? "Positive" : "Negative"}: ${then}`;
  const ranks = sizes.filter((size) => size > 0);
  const [most, least, own] = [Math.max(...ranks), Math.min(...ranks), Math.abs(grad)];
  const rank = most === least ? (ranks.length === 1 ? "Only" : "Equal") : own === most ? "Strongest" : own === least ? "Weakest" : own >= 0.1 * most ? "Moderate" : "Weak";
  return `${rank} influence, ${grad > 0 ? "positive" : "negative"}: ${then}`;
}

// --- downhill ---------------------------------------------------------------------------------------

const RATES = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1];

/** Gradient descent by hand: every input moves a little against its gradient. */
function Downhill({ store, state }: Props): JSX.Element {
  const { run, rate, descent } = state;
  const { graph } = run;
  const root = graph.names[graph.root];
  const expected = -rate * graph.leaves.reduce((sum, leaf) => sum + run.final(leaf) ** 2, 0);
  const number = (x: number): string => rounded(x, state.digits);
  const [last, before] = [descent[descent.length - 1], descent[descent.length - 2]];
  return (
    <section class="card downhill" role="group" aria-label="Downhill">
      <h2>Take a step downhill</h2>
      <p class="hint">
        Every input moves against its gradient: <code>x.data -= {rate} * x.grad</code>. For a small rate {root} changes by about −{rate} × the sum of the squared
        gradients = {number(expected)}.
      </p>
      <p class="actions">
        <button type="button" class="primary" onClick={() => stepDownhill(store)}>
          One step downhill
        </button>
        <label class="speed">
          <span>rate</span>
          <select aria-label="rate" value={rate} onChange={(event) => store.set({ rate: Number(event.currentTarget.value) })}>
            {RATES.map((own) => (
              <option key={own} value={own}>
                {own}
              </option>
            ))}
          </select>
        </label>
      </p>
      {descent.length > 1 && (
        <>
          <p aria-live="polite">
            {root} went from {number(before)} to <b>{number(last)}</b>
            {last > before ? ": up. The step was too long for this slope, so that it went past the valley. Try a smaller rate." : "."}
          </p>
          <Curve values={descent} name={root} />
        </>
      )}
    </section>
  );
}

/** The result after each step. */
function Curve({ values, name }: { values: readonly number[]; name: string }): JSX.Element {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const place = (value: number, k: number): string => `${(10 + (300 * k) / Math.max(1, values.length - 1)).toFixed(1)},${(60 - (50 * (value - low)) / (high - low || 1)).toFixed(1)}`;
  return (
    <svg class="curve" viewBox="0 0 320 70" role="img" aria-label={`${name} over ${values.length - 1} steps`}>
      <polyline points={values.map(place).join(" ")} />
      {values.map((value, k) => {
        const [cx, cy] = place(value, k).split(",");
        return <circle key={k} cx={cx} cy={cy} r="3" />;
      })}
    </svg>
  );
}
