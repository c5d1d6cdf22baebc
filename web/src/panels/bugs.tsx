/** The bug lab: wrong backward passes, made for real on this graph, with the wrong numbers they yield and why. */

import type { JSX } from "preact";
import { BUGS, withBug } from "../model/lab";
import { repr } from "../model/numbers";
import type { State, Store } from "../state/store";

interface Props {
  readonly store: Store;
  readonly state: State;
}

const ROWS = 12;

/** Larger graphs are not passed backward five times over. */
const LARGEST = 20_000;

export function Bugs({ store, state }: Props): JSX.Element {
  const { run, bug } = state;
  const { graph } = run;
  if (graph.count > LARGEST) return <p class="hint">This graph is too large for the bug lab. Choose one of the examples.</p>;
  return (
    <div class="panel bugs">
      <p class="hint">Each bug is run on this very graph. Choose one: the graph, the steps and the ledger then show the wrong pass.</p>
      {BUGS.map((own) => {
        const wrong = withBug(run, own.id);
        const off = graph.leaves.filter((leaf) => wrong.final(leaf) !== run.final(leaf));
        const chosen = bug === own.id;
        return (
          <section key={own.id} class={`card bug${chosen ? " chosen" : ""}`}>
            <h3>
              <button type="button" aria-pressed={chosen} onClick={() => store.setBug(chosen ? null : own.id)}>
                {own.name}
              </button>
              <span class={off.length ? "verdict off" : "verdict"}>
                {off.length ? `${off.length} of ${graph.leaves.length} wrong` : "harmless here"}
              </span>
            </h3>
            {chosen && (
              <>
                <pre>{own.code}</pre>
                <p>{own.why}</p>
                <table>
                  <thead>
                    <tr>
                      <th>input</th>
                      <th>with the bug</th>
                      <th>right</th>
                    </tr>
                  </thead>
                  <tbody>
                    {graph.leaves.slice(0, ROWS).map((leaf) => (
                      <tr key={leaf} class={off.includes(leaf) ? "off" : ""}>
                        <td>{graph.names[leaf]}.grad</td>
                        <td class="number">{repr(wrong.final(leaf))}</td>
                        <td class="number">{repr(run.final(leaf))}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
                {off.length === 0 && <p class="hint">This graph does not show it. Try the diamond among the examples, or “An inner value, twice”.</p>}
              </>
            )}
          </section>
        );
      })}
    </div>
  );
}
