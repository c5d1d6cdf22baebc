/** "Why is this gradient small?": the strongest path from the result down to a node, factor by factor. */

import type { JSX } from "preact";
import { type Link, pathTo } from "../model/lab";
import { repr, short } from "../model/numbers";
import type { Run } from "../model/run";
import { edgeFormula } from "../words/sentences";
import { askedAbout, type State, type Store } from "../state/store";
import { strength, tone } from "../views/tone";

interface Props {
  readonly store: Store;
  readonly state: State;
}

export function Why({ store, state }: Props): JSX.Element {
  const { run } = state;
  const { graph } = run;
  const node = askedAbout(state);
  const links = pathTo(run, node);
  const name = graph.names[node];
  return (
    <div class="panel why">
      <h3>
        {name}.grad = <span class={`number ${tone(run.final(node))}`}>{repr(run.final(node))}</span>
      </h3>
      <p>{verdict(run, node, links)}</p>
      <p class="hint">Select any node to ask about it. This is the path that carries most, from the result down.</p>
      <ol class="path" aria-label={`Path from ${graph.names[graph.root]} to ${name}`}>
        {links.map(({ node: at, edge }) => {
          const grad = run.final(at);
          return (
            <li key={at}>
              {edge !== null && (
                <button type="button" class="factor" onClick={() => store.select({ kind: "edge", id: edge })}>
                  × {short(run.local[edge])} <small>{edgeFormula(run, edge)}</small>
                </button>
              )}
              <button type="button" class={`stop${at === node ? " chosen" : ""}`} onClick={() => store.show(at)}>
                <b>{graph.names[at]}</b>
                <span class="meter">
                  <span class={`fill ${tone(grad)}`} style={{ width: `${100 * strength(grad)}%`, left: "0" }} />
                </span>
                <span class={`number ${tone(grad)}`}>{short(grad)}</span>
              </button>
              {others(run, at) > 0 && <small class="hint">{others(run, at) === 1 ? "one more use adds to it" : `${others(run, at)} more uses add to it`}</small>}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function others(run: Run, node: number): number {
  return Math.max(0, run.graph.useEdges(node).length - 1);
}

/** Why the gradient has its size, in one or two sentences. */
function verdict(run: Run, node: number, links: readonly Link[]): string {
  const { graph } = run;
  const grad = Math.abs(run.final(node));
  const names = graph.names;
  const closed = links.find(({ edge }) => edge !== null && (run.zero[edge] || run.local[edge] === 0));
  if (node === graph.root) return "It is the result itself: how much does it change itself? By 1.";
  if (grad === 0 && closed?.edge != null) {
    const at = names[graph.to[closed.edge]];
    return `Nothing arrives: at ${at} = ${graph.formula(graph.to[closed.edge])} the local derivative is zero, and zero times anything is zero.`;
  }
  const contributions = run.ledger(node).map((item) => run.additions.contribution[item]);
  const total = contributions.reduce((sum, x) => sum + Math.abs(x), 0);
  if (contributions.length > 1 && grad < total / 10) {
    return `Its ${contributions.length} contributions nearly cancel: together they are ${short(total)} in size, and their sum is ${short(run.final(node))}.`;
  }
  const factors = links.flatMap(({ edge }) => (edge === null ? [] : [{ edge, size: Math.abs(run.local[edge]) }]));
  const least = factors.reduce((a, b) => (b.size < a.size ? b : a), factors[0] ?? { edge: -1, size: 1 });
  const most = factors.reduce((a, b) => (b.size > a.size ? b : a), factors[0] ?? { edge: -1, size: 1 });
  const chosen = grad < 1 ? least : most;
  if (chosen.edge < 0) return "";
  const at = graph.to[chosen.edge];
  const word = grad < 1 ? "smallest" : "largest";
  return `It is the product of ${factors.length} local derivative${factors.length === 1 ? "" : "s"} on its way. The ${word} is ${short(run.local[chosen.edge])}, at ${names[at]} = ${graph.formula(at)}.`;
}
