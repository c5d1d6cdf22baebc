/** The contribution ledger: for each node one row a use, with the running `+=`, and the switch to a wrong `=`. */

import type { JSX } from "preact";
import { signed } from "../model/numbers";
import { edgeFormula } from "../words/sentences";
import { addsUnseen, isCovered } from "../state/state";
import type { State, Store } from "../state/store";
import { inSigns, Num, timesOf, writer } from "../parts/num";
import { tone } from "../parts/tone";

interface Props {
  readonly store: Store;
  readonly state: State;
}

/** The most nodes that are listed; the selected one is always among them. */
const MOST = 40;

export function Ledger({ store, state }: Props): JSX.Element {
  const { shown, step, selection, run } = state;
  const { graph } = shown;
  const chosen = selection?.kind === "node" && graph.isVariable(selection.id) ? selection.id : null;
  const used = Array.from({ length: graph.count }, (_, node) => node).filter((node) => graph.isVariable(node) && node !== graph.root);
  const order = used.length > MOST ? (chosen === null ? used.slice(0, MOST) : [chosen]) : used;
  const number = writer(state);
  const wrong = state.assign ? graph.leaves.filter((leaf) => shown.final(leaf) !== run.final(leaf)) : [];
  return (
    <div class="panel ledger">
      <p class="hint">
        A gradient is a sum: every use of a value adds one contribution, <i>local {timesOf(state)} upstream</i>.
      </p>
      {/* A form of its own: of the switches of several figures in one page, each has its own choice. */}
      <form>
        <fieldset class="switch">
          <legend>Each contribution</legend>
          <label class={state.assign ? "" : "on"}>
            <input type="radio" name="assign" checked={!state.assign} onChange={() => store.setAssign(false)} /> is added <code>+=</code>
          </label>
          <label class={state.assign ? "on bad" : ""}>
            <input type="radio" name="assign" checked={state.assign} onChange={() => store.setAssign(true)} /> overwrites the one before <code>=</code>
          </label>
        </fieldset>
      </form>
      {state.assign && (
        <p class="warning" role="status">
          {wrong.length
            ? `Wrong now: ${wrong.slice(0, 4).map((leaf) => `${graph.names[leaf]}.grad is ${number(shown.final(leaf))} and should be ${number(run.final(leaf))}`).join("; ")}. With = the last contribution overwrites the others.`
            : "Here = happens to give the same: every value is used once."}
        </p>
      )}
      {order.map((node) => (
        <Account key={node} node={node} store={store} state={state} chosen={node === chosen} step={step} />
      ))}
      {used.length > MOST && chosen === null && <p class="hint">Select a node to see its own ledger.</p>}
    </div>
  );
}

function Account({ node, store, state, chosen, step }: Props & { node: number; chosen: boolean; step: number }): JSX.Element {
  const { shown } = state;
  const { graph, additions } = shown;
  const items = shown.ledger(node);
  const grad = shown.gradient(node, step);
  const sign = state.assign ? "=" : "+=";
  return (
    <section class={`account${chosen ? " chosen" : ""}`} data-account={node}>
      <h2>
        <button type="button" class="link" onClick={() => store.show(node)}>
          {graph.names[node]}.grad
        </button>
        <output>{grad === null || isCovered(state, node) ? "·" : <Num state={state} x={grad} kind={tone(grad)} />}</output>
      </h2>
      <table>
        {items.length > 0 && (
          <thead>
            <tr>
              <th scope="col">use</th>
              <th scope="col">local {timesOf(state)} upstream</th>
              <th scope="col" class="amount">
                adds
              </th>
              <th scope="col" class="amount">
                so far
              </th>
            </tr>
          </thead>
        )}
        <tbody>
          {items.map((item) => {
            const edge = additions.edge[item];
            const at = shown.additionStep(item);
            const done = !addsUnseen(state, at);
            const lost = shown.wasLost(item);
            const contribution = additions.contribution[item];
            return (
              <tr key={item} class={`${done ? "" : "later"}${at === step ? " now" : ""}`} onClick={() => store.goTo(at)}>
                <td class="from">
                  <button type="button" class="link" title="Go to this step" onClick={() => store.goTo(at)}>
                    via {graph.names[graph.to[edge]]}
                  </button>
                </td>
                <td class="rule">
                  {sign} {inSigns(edgeFormula(shown, edge), state.printed)} {timesOf(state)} {graph.names[graph.to[edge]]}.grad
                </td>
                <td class={`number amount ${done ? tone(contribution) : ""}`}>{done ? signed(contribution) : "·"}</td>
                <td class="total amount">{done && lost ? "too late" : done ? <Num state={state} x={additions.after[item]} /> : ""}</td>
              </tr>
            );
          })}
          {items.length === 0 && (
            <tr class="later">
              <td colSpan={4}>nothing flows here</td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}
