/** The bug lab: wrong backward passes, made for real on this graph, with the wrong numbers they yield and why. */

import type { JSX } from "preact";
import { BUGS, shows, withBug } from "../lab/bugs";
import { runProgram, splitInputs } from "../model/program";
import { PRESETS, type Preset } from "../state/presets";
import { allCovered } from "../state/state";
import type { State, Store } from "../state/store";
import { Covered } from "../parts/covered";
import { Num } from "../parts/num";

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
  if (allCovered(state)) return <Covered store={store} />;
  return (
    <div class="panel bugs">
      <p class="hint">Each bug is run on this very graph. Choose one: the graph, the steps and the ledger then show the wrong pass.</p>
      {BUGS.map((own) => {
        const wrong = withBug(run, own.id);
        const off = graph.leaves.filter((leaf) => wrong.final(leaf) !== run.final(leaf));
        const chosen = bug === own.id;
        return (
          <section key={own.id} class={`card bug${chosen ? " chosen" : ""}`}>
            <h2>
              <button type="button" aria-pressed={chosen} onClick={() => store.setBug(chosen ? null : own.id)}>
                {own.name}
              </button>
              <span class={off.length ? "verdict off" : "verdict"}>
                {off.length ? `${off.length} of ${graph.leaves.length} wrong` : "harmless here"}
              </span>
            </h2>
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
                        <td><Num state={state} x={wrong.final(leaf)} /></td>
                        <td><Num state={state} x={run.final(leaf)} /></td>
                      </tr>
                    ))}
                  </tbody>
                </table>
                {off.length === 0 && <Elsewhere store={store} bug={own.id} />}
              </>
            )}
          </section>
        );
      })}
    </div>
  );
}

/** A graph of the gallery that shows what this one does not. */
function Elsewhere({ store, bug }: { store: Store; bug: string }): JSX.Element {
  const preset = exampleOf(bug);
  const open = (): void => {
    if (preset !== undefined && store.open(splitInputs(preset.text))) store.setBug(bug);
  };
  return (
    <p class="hint">
      This graph does not show it.{" "}
      {preset && (
        <button type="button" onClick={open}>
          Try “{preset.name}”
        </button>
      )}
    </p>
  );
}

const examples = new Map<string, Preset | undefined>();

function exampleOf(bug: string): Preset | undefined {
  if (!examples.has(bug)) examples.set(bug, PRESETS.find(({ text }) => shows(runProgram(splitInputs(text)), bug)));
  return examples.get(bug);
}
