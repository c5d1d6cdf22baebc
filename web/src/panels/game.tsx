/** The visit-order game: place the order of the backward pass, run it, and learn which paths were lost, how much, and why. */

import { Component, createRef, type JSX } from "preact";
import { inManner } from "../lab/bugs";
import { isTopological, type Lost, lostPaths, MOST_PATHS, players, readers } from "../lab/order";
import { countPaths, pathName } from "../lab/paths";
import { rounded, thousands } from "../model/numbers";
import { splitInputs } from "../model/program";
import type { Run } from "../model/run";
import { runOrder, setOrder } from "../state/games";
import { PRESETS } from "../state/presets";
import { allCovered } from "../state/state";
import type { State, Store } from "../state/store";
import { Num } from "../parts/num";

interface Props {
  readonly store: Store;
  readonly state: State;
}

/** Larger graphs are not placed by hand. */
const MOST = 40;
/** The levels, by their names in the gallery. */
const LEVELS = ["a · a", "The diamond", "b = a + a, c = b + b", "An inner value, twice", "(a · b + c) · (a + b)", "Softmax and cross-entropy"];

export class Game extends Component<Props> {
  private readonly panel = createRef<HTMLDivElement>();
  private moved = false;

  private readonly place = (order: readonly number[]): void => {
    this.moved = true;
    setOrder(this.props.store, order);
  };

  /** A chip that was placed or taken back is gone: the next one has the focus, before another key is pressed. */
  override componentDidUpdate(): void {
    if (this.moved) this.panel.current?.querySelector<HTMLElement>(".to-place button, .actions .primary")?.focus();
    this.moved = false;
  }

  override render(): JSX.Element {
    const { store, state } = this.props;
    const { run, order } = state;
    const all = players(run);
    const left = all.filter((node) => !order.includes(node));
    const { names } = run.graph;
    if (all.length > MOST) return <p class="hint">This graph has {thousands(all.length)} nodes to place. Choose one of the levels.</p>;
    return (
      <div class="panel game" ref={this.panel}>
        <p class="hint">
          In which order must the backward pass visit the nodes? Place them, first to last, then run it. When a node is visited its gradient is read and sent on
          to its operands; what comes later is lost.
        </p>
        <div class="levels" role="group" aria-label="Levels">
          {LEVELS.map((name, level) => (
            <button key={name} type="button" class={isLevel(state, name) ? "on" : ""} aria-pressed={isLevel(state, name)} onClick={() => openLevel(store, level)}>
              {level + 1} <span>{name}</span>
            </button>
          ))}
        </div>
        <h2>Visit order</h2>
        <ol class="chips placed" aria-label="Visit order, first to last">
          {order.map((node, k) => (
            <li key={node}>
              <button type="button" onClick={() => this.place(order.filter((own) => own !== node))} aria-label={`${names[node]}, visited ${k + 1}. Take back.`}>
                <small>{k + 1}</small> {names[node]}
              </button>
            </li>
          ))}
          {order.length === 0 && <li class="hint">nothing placed yet</li>}
        </ol>
        <h2>To place</h2>
        <div class="chips to-place" role="group" aria-label="Nodes to place">
          {left.map((node) => (
            <button key={node} type="button" data-place={node} onClick={() => this.place([...order, node])}>
              {names[node]}
            </button>
          ))}
          {left.length === 0 && <span class="hint">all placed</span>}
        </div>
        <p class="actions">
          <button type="button" class="primary" aria-disabled={left.length > 0} onClick={() => left.length === 0 && runOrder(store)}>
            Run it
          </button>
          <button type="button" onClick={() => this.place([])} aria-disabled={order.length === 0}>
            Start over
          </button>
          <button type="button" onClick={() => this.place([...all].reverse())}>
            Show a right order
          </button>
        </p>
        {state.ran && left.length === 0 && <Result store={store} state={state} />}
      </div>
    );
  }
}

function isLevel(state: State, name: string): boolean {
  const preset = PRESETS.find((own) => own.name === name);
  return preset !== undefined && state.program?.text === splitInputs(preset.text).text;
}

function openLevel(store: Store, level: number): void {
  const preset = PRESETS.find((own) => own.name === LEVELS[level]);
  if (preset !== undefined) store.open(splitInputs(preset.text));
}

function Result({ store, state }: Props): JSX.Element {
  const { run, order } = state;
  const wrong = inManner(run, { order, closed: true });
  const lost = lostPaths(run, order);
  const leaves = readers(run);
  const right = leaves.filter((leaf) => wrong.final(leaf) === run.final(leaf)).length;
  const sorted = isTopological(run, order);
  const level = LEVELS.findIndex((name) => isLevel(state, name));
  const covered = allCovered(state);
  return (
    <section class={`card result${sorted ? " won" : ""}`} aria-live="polite">
      <h2>{sorted ? "✓ Right: every gradient arrived" : `${right} of ${leaves.length} gradients are right`}</h2>
      {sorted && <p>Every node was visited after everything that uses it, so that nothing came too late. This is reverse topological order.</p>}
      {!sorted && right === leaves.length && <p>Here nothing was lost: what came too late was zero. Yet it is no topological order.</p>}
      {lost.slice(0, 6).map((loss, k) => (
        <Loss key={k} state={state} loss={loss} />
      ))}
      {lost.length > 6 && <p class="hint">and {lost.length - 6} more paths</p>}
      {covered ? <p class="hint">The numbers are covered, as all gradients are.</p> : <Numbers state={state} wrong={wrong} leaves={leaves} lost={lost} />}
      {sorted && level >= 0 && level + 1 < LEVELS.length && (
        <p class="actions">
          <button type="button" class="primary" onClick={() => openLevel(store, level + 1)}>
            Next level: {LEVELS[level + 1]}
          </button>
        </p>
      )}
      {sorted && level === LEVELS.length - 1 && <p>That was the last level. Any expression that you type is one more.</p>}
      {!sorted && <p class="hint">The graph shows your pass now: step through it and see where it goes wrong.</p>}
    </section>
  );
}

/** What each input got, and what it should have got. */
function Numbers({ state, wrong, leaves, lost }: { state: State; wrong: Run; leaves: readonly number[]; lost: readonly Lost[] }): JSX.Element {
  const { run } = state;
  const { graph } = run;
  return (
    <table>
      <thead>
        <tr>
          <th>input</th>
          <th>got</th>
          <th>lost</th>
          <th>right</th>
        </tr>
      </thead>
      <tbody>
        {leaves.map((leaf) => {
          const got = wrong.final(leaf);
          return (
            <tr key={leaf} class={got === run.final(leaf) ? "" : "off"}>
              <td>{graph.names[leaf]}.grad</td>
              <td>
                <Num state={state} x={got} />
              </td>
              <td class="number">{lostSum(state, leaf, lost)}</td>
              <td>
                <Num state={state} x={run.final(leaf)} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** What an input lost, path by path: `3 + 3`. */
function lostSum(state: State, leaf: number, lost: readonly Lost[]): string {
  const own = lost.filter((loss) => loss.leaf === leaf).map(({ path }) => rounded(path.share, state.digits));
  if (countPaths(state.run, leaf) > MOST_PATHS) return "…";
  return own.length > 4 ? `${own.slice(0, 3).join(" + ")} + …` : own.join(" + ");
}

function Loss({ state, loss }: { state: State; loss: Lost }): JSX.Element {
  const { run, digits } = state;
  const { graph } = run;
  const [early, user] = [graph.names[graph.from[loss.late]], graph.names[graph.to[loss.late]]];
  const end = loss.leaf === graph.from[loss.late] ? `after ${early}.grad had been read` : `after ${early} had passed its gradient on`;
  return (
    <p class="loss">
      <b>{pathName(run, loss.path, loss.leaf)}</b> {allCovered(state) ? "was lost" : `lost ${rounded(loss.path.share, digits)}`}. {early} was visited before {user}, so that {user}'s share came {end}.
    </p>
  );
}
