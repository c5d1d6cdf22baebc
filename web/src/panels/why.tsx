/** "Why is this gradient so large, or so small?": it is a sum over paths, and the strongest of them is shown factor by factor. */

import type { JSX } from "preact";
import { countPaths, mainPath, type Path, pathName, strongestPaths } from "../lab/paths";
import { readNumber, short, thousands } from "../model/numbers";
import type { Run } from "../model/run";
import { edgeFormula } from "../words/sentences";
import { allCovered } from "../state/state";
import { askedAbout, type State, type Store } from "../state/store";
import { Covered } from "../parts/covered";
import { inSigns, Num, timesOf, writer } from "../parts/num";
import { strength, tone } from "../parts/tone";

interface Props {
  readonly store: Store;
  readonly state: State;
}

/** So many paths are told one by one. */
const TOLD = 4;

export function Why({ store, state }: Props): JSX.Element {
  const { run, step } = state;
  const { graph } = run;
  const node = askedAbout(state);
  const name = graph.names[node];
  if (allCovered(state)) return <Covered store={store} />;
  const complete = run.ledger(node).reduce((last, item) => Math.max(last, run.additionStep(item)), run.forwardCount);
  if (step < complete) {
    return (
      <div class="panel why">
        <h2>{name}.grad</h2>
        <p>{run.isBackward(step) ? `At this step ${name}.grad is not complete yet.` : "The backward pass has not begun: there are no gradients yet."}</p>
        <p class="actions">
          <button type="button" onClick={() => store.goTo(complete)}>
            Go to the step that completes it
          </button>
        </p>
      </div>
    );
  }
  const main = mainPath(run, node);
  return (
    <div class="panel why">
      <h2>
        {name}.grad = <Num state={state} x={run.final(node)} kind={tone(run.final(node))} />
      </h2>
      <Sum state={state} node={node} />
      <p>{inSigns(verdict(run, node, main), state.printed)}</p>
      <p class="hint">Select any node to ask about it. This is the path that carries most, from the result down. Each bar is the whole gradient at that node, on a logarithmic scale.</p>
      <ol class="path" aria-label={`Path from ${graph.names[graph.root]} to ${name}`}>
        <Stop store={store} state={state} at={graph.root} node={node} />
        {main.edges.map((edge) => (
          <Stop key={edge} store={store} state={state} at={graph.from[edge]} edge={edge} node={node} />
        ))}
      </ol>
    </div>
  );
}

function Stop({ store, state, at, edge, node }: Props & { at: number; edge?: number; node: number }): JSX.Element {
  const { run } = state;
  const { graph } = run;
  const grad = run.final(at);
  const others = graph.useEdges(at).length - 1;
  return (
    <li>
      {edge !== undefined && (
        <button type="button" class="factor" onClick={() => store.select({ kind: "edge", id: edge })}>
          {timesOf(state)} {short(run.local[edge])} <small>{inSigns(formulaOf(run, edge), state.printed)}</small>
        </button>
      )}
      <button type="button" class={`stop${at === node ? " chosen" : ""}`} onClick={() => store.show(at)}>
        <b>{graph.names[at]}</b>
        {graph.formula(at) !== "" && <small class="formula">= {inSigns(graph.formula(at), state.printed)}</small>}
        <span class="meter">
          <span class={`fill ${tone(grad)}`} style={{ width: `${100 * strength(grad)}%`, left: "0" }} />
        </span>
        <span class={`number ${tone(grad)}`}>{short(grad)}</span>
      </button>
      {others > 0 && <small class="hint">{others === 1 ? "one more use adds to it" : `${others} more uses add to it`}</small>}
    </li>
  );
}

/** The local derivative in symbols; empty where it is a plain number, which stands there already. */
function formulaOf(run: Run, edge: number): string {
  const text = edgeFormula(run, edge);
  return readNumber(text) === readNumber(text) ? "" : text;
}

/** The gradient as the sum of what its paths bring. */
function Sum({ state, node }: { state: State; node: number }): JSX.Element | null {
  const { run } = state;
  if (node === run.graph.root) return null;
  const count = countPaths(run, node);
  const paths = strongestPaths(run, node, TOLD);
  if (count === 0 || paths.length === 0) return null;
  const rest = run.final(node) - paths.reduce((sum, { share }) => sum + share, 0);
  const number = writer(state);
  return (
    <>
      <p>
        {count === 1 ? "One path leads to it: the product of the local derivatives along it." : `It is the sum over ${counted(count)} paths, each the product of the local derivatives along it.`}
      </p>
      <table class="paths">
        <tbody>
          {paths.map((path, k) => (
            <tr key={k}>
              <td>{named(run, path, node)}</td>
              <td class="rule">{path.edges.length <= 6 ? path.edges.map((edge) => number(run.local[edge])).join(` ${timesOf(state)} `) : `${path.edges.length} factors`}</td>
              <td class={`number ${tone(path.share)}`}>{number(path.share)}</td>
            </tr>
          ))}
          {count > paths.length && (
            <tr>
              <td>{count - paths.length === 1 ? "the other path" : `the other ${counted(count - paths.length)}`}</td>
              <td />
              <td class="number">{number(rest)}</td>
            </tr>
          )}
        </tbody>
        {count > 1 && (
          <tfoot>
            <tr>
              <td>together</td>
              <td />
              <td class="number">{number(run.final(node))}</td>
            </tr>
          </tfoot>
        )}
      </table>
    </>
  );
}

function named(run: Run, path: Path, node: number): string {
  if (path.edges.length <= 6) return pathName(run, path, node);
  const { names, to } = run.graph;
  return `${names[to[path.edges[0]]]} → … → ${names[to[path.edges[path.edges.length - 1]]]} → ${names[node]}`;
}

/** `86,016`, `110 million`, and in powers of ten what has no name that all know. */
function counted(count: number): string {
  if (count < 1e6) return thousands(count);
  const three = Number(count.toPrecision(3));
  if (three < 1e9) return `${short(three / 1e6)} million`;
  return three < 1e12 ? `${short(three / 1e9)} billion` : short(count, 3);
}

/** Why the gradient has its size, in one or two sentences. */
function verdict(run: Run, node: number, main: Path): string {
  const { graph } = run;
  const { names } = graph;
  const grad = Math.abs(run.final(node));
  if (node === graph.root) return "It is the result itself: how much does it change itself? By 1.";
  const closed = main.edges.find((edge) => run.zero[edge] || run.local[edge] === 0);
  if (grad === 0 && closed !== undefined) {
    const at = graph.to[closed];
    return `Nothing arrives: at ${names[at]} = ${graph.formula(at)} the local derivative is zero, and zero times anything is zero.`;
  }
  const contributions = run.ledger(node).map((item) => run.additions.contribution[item]);
  const total = contributions.reduce((sum, x) => sum + Math.abs(x), 0);
  if (contributions.length > 1 && grad < total / 10) {
    return `Its ${contributions.length} contributions nearly cancel: together they are ${short(total)} in size, and their sum is ${short(run.final(node))}.`;
  }
  if (main.edges.length < 2) return "";
  const size = (edge: number): number => Math.abs(run.local[edge]);
  const edge = main.edges.reduce((best, own) => (grad < 1 === size(own) < size(best) ? own : best));
  const at = graph.to[edge];
  return `On the strongest path the ${grad < 1 ? "smallest" : "largest"} factor is ${short(run.local[edge])}, at ${names[at]} = ${graph.formula(at)}.`;
}
