/** The visit-order game: place the order of the backward pass, run it, and learn what was lost, how much, and why. */

import type { JSX } from "preact";
import { LEAF } from "../model/graph";
import { inManner, lateIn, type Late, players, readAtVisit } from "../model/lab";
import { repr, short, thousands } from "../model/numbers";
import { splitInputs } from "../model/program";
import type { Run } from "../model/run";
import { PRESETS } from "../state/presets";
import type { State, Store } from "../state/store";

interface Props {
  readonly store: Store;
  readonly state: State;
}

/** Larger graphs are not placed by hand. */
const MOST = 40;
/** The levels, by their place in the gallery. */
const LEVELS = ["a · a", "The diamond", "b = a + a, c = b + b", "An inner value, twice", "(a · b + c) · (a + b)", "Softmax and cross-entropy"];

export function Game({ store, state }: Props): JSX.Element {
  const { run, order } = state;
  const all = players(run);
  const left = all.filter((node) => !order.includes(node));
  const { names } = run.graph;
  if (all.length > MOST) return <p class="hint">This graph has {thousands(all.length)} nodes to place. Choose one of the levels.</p>;
  return (
    <div class="panel game">
      <p class="hint">
        In which order must the backward pass visit the nodes? Place them, first to last, then run it. When a node is visited it sends its gradient to its
        operands; an input's gradient is read when the input is visited.
      </p>
      <div class="levels" role="group" aria-label="Levels">
        {LEVELS.map((name, level) => (
          <button key={name} type="button" class={isLevel(state, name) ? "on" : ""} onClick={() => openLevel(store, name)}>
            {level + 1} <span>{name}</span>
          </button>
        ))}
      </div>
      <h3>Visit order</h3>
      <ol class="chips placed" aria-label="Visit order, first to last">
        {order.map((node, k) => (
          <li key={node}>
            <button type="button" onClick={() => store.setOrder(order.filter((own) => own !== node))} aria-label={`${names[node]}, visited ${k + 1}. Take back.`}>
              <small>{k + 1}</small> {names[node]}
            </button>
          </li>
        ))}
        {order.length === 0 && <li class="hint">nothing placed yet</li>}
      </ol>
      <h3>To place</h3>
      <div class="chips" role="group" aria-label="Nodes to place">
        {left.map((node) => (
          <button key={node} type="button" data-place={node} onClick={() => store.setOrder([...order, node])}>
            {names[node]}
          </button>
        ))}
        {left.length === 0 && <span class="hint">all placed</span>}
      </div>
      <p class="actions">
        <button type="button" class="primary" disabled={left.length > 0} onClick={() => store.runOrder()}>
          Run it
        </button>
        <button type="button" onClick={() => store.setOrder([])} disabled={order.length === 0}>
          Start over
        </button>
        <button type="button" onClick={() => store.setOrder([...all].reverse())}>
          Show a right order
        </button>
      </p>
      {state.ran && left.length === 0 && <Result store={store} state={state} />}
    </div>
  );
}

function isLevel(state: State, name: string): boolean {
  const preset = PRESETS.find((own) => own.name === name);
  return preset !== undefined && state.program?.text === splitInputs(preset.text).text;
}

function openLevel(store: Store, name: string): void {
  const preset = PRESETS.find((own) => own.name === name);
  if (preset !== undefined) store.open(splitInputs(preset.text));
}

function Result({ state }: Props): JSX.Element {
  const { run, order } = state;
  const { graph } = run;
  const wrong = inManner(run, { order });
  const late = oncePerPath(lateIn(run, order));
  const leaves = players(run).filter((node) => graph.kinds[node] === LEAF);
  const right = leaves.filter((leaf) => readAtVisit(wrong, leaf) === run.final(leaf)).length;
  return (
    <section class="card result" aria-live="polite">
      <h3>{late.length === 0 ? "Right" : `${right} of ${leaves.length} gradients are right`}</h3>
      {late.length === 0 ? (
        <p>Every node was visited after everything that uses it, so that nothing came too late. This is reverse topological order.</p>
      ) : (
        late.slice(0, 4).map((loss) => <Loss key={loss.edge} run={run} loss={loss} />)
      )}
      <table>
        <thead>
          <tr>
            <th>input</th>
            <th>got</th>
            <th>right</th>
          </tr>
        </thead>
        <tbody>
          {leaves.map((leaf) => {
            const got = readAtVisit(wrong, leaf);
            return (
              <tr key={leaf} class={got === run.final(leaf) ? "" : "off"}>
                <td>{graph.names[leaf]}.grad</td>
                <td class="number">{repr(got)}</td>
                <td class="number">{repr(run.final(leaf))}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="hint">The graph shows your pass now: step through it and see where it goes wrong.</p>
    </section>
  );
}

/** What one path lost is told once, by the visit that lost it last. */
function oncePerPath(late: readonly Late[]): Late[] {
  const told = new Map(late.map((loss) => [loss.path.join(" "), loss] as const).reverse());
  return [...told.values()].reverse();
}

function Loss({ run, loss }: { run: Run; loss: Late }): JSX.Element {
  const { graph } = run;
  const [early, user] = [graph.names[graph.from[loss.edge]], graph.names[graph.to[loss.edge]]];
  const path = loss.path.map((node) => graph.names[node]).join(" → ");
  const end = graph.kinds[graph.from[loss.edge]] === LEAF ? `after ${early}.grad had been read` : `after ${early} had passed its gradient on`;
  return (
    <p class="loss">
      <b>{path}</b> lost {short(loss.missing)}. {early} was visited before {user}, so that {user}'s share, {short(run.local[loss.edge])} ×{" "}
      {short(run.final(graph.to[loss.edge]))} = {short(loss.amount)}, came {end}.
    </p>
  );
}
