/** The search for an order: depth-first, move by move, with its visited set; reversed, it is the order of the backward pass. */

import type { JSX } from "preact";
import { type Move, players, searched, searchMoves } from "../lab/order";
import type { State, Store } from "../state/store";
import { SEARCHED } from "../views/boxes";

interface Props {
  readonly store: Store;
  readonly state: State;
}

const CODE = ["def visit(v):", "    if v in visited: return", "    visited.add(v)", "    for child in v._children:", "        visit(child)", "    order.append(v)", "", "visit(L)"] as const;
/** The line that each kind of move is at. */
const LINE: Readonly<Record<Move["kind"], number>> = { again: 1, enter: 2, append: 5 };

export function Sort({ store, state }: Props): JSX.Element {
  const { run, search } = state;
  const { names, root } = run.graph;
  if (players(run).length > SEARCHED) return <p class="hint">This graph is too large to be searched by hand. Choose one of the examples.</p>;
  const moves = searchMoves(run);
  const { visited, order } = searched(moves, search);
  const move = search > 0 ? moves[search - 1] : undefined;
  const done = search >= moves.length;
  const go = (to: number): void => store.set({ search: Math.max(0, Math.min(moves.length, to)) });
  return (
    <div class="panel sort">
      <p class="hint">
        Before the backward pass the nodes are put in an order, each after its operands. A depth-first search with a visited set does it; the graph shows where it
        is.
      </p>
      <pre class="code">
        {CODE.map((line, k) => (
          <span key={k} class={move !== undefined && LINE[move.kind] === k ? "at" : ""}>
            {line.replace("visit(L)", `visit(${names[root]})`)}
            {"\n"}
          </span>
        ))}
      </pre>
      <p class="actions">
        <button type="button" aria-disabled={search === 0} onClick={() => go(search - 1)}>
          Back
        </button>
        <button type="button" class="primary" aria-disabled={done} onClick={() => go(search + 1)}>
          Next move
        </button>
        <button type="button" onClick={() => go(done ? 0 : moves.length)}>
          {done ? "From the start" : "To the end"}
        </button>
        <span class="hint">
          {search} of {moves.length}
        </span>
      </p>
      <p aria-live="polite" class="move">
        {move === undefined ? `Nothing is visited yet. The search begins at ${names[root]}.` : said(names, move)}
      </p>
      <dl>
        <dt>call stack</dt>
        <dd>{move === undefined ? "empty" : [...move.stack, ...(move.kind === "again" ? [] : [move.node])].map((node) => names[node]).join(" › ")}</dd>
        <dt>visited</dt>
        <dd>{visited.length ? `{${visited.map((node) => names[node]).join(", ")}}` : "{}"}</dd>
        <dt>order</dt>
        <dd>[{order.map((node) => names[node]).join(", ")}]</dd>
      </dl>
      {done && (
        <section class="card">
          <p>
            Reversed, <b>{[...order].reverse().map((node) => names[node]).join(", ")}</b>: every node after all that use it. In this order nothing comes too late.
          </p>
          <p class="actions">
            <button type="button" class="primary" onClick={() => store.setTab("game")}>
              Place it yourself
            </button>
          </p>
        </section>
      )}
    </div>
  );
}

function said(names: readonly string[], { kind, node, stack }: Move): string {
  const name = names[node];
  const from = stack.length ? ` from ${names[stack[stack.length - 1]]}` : "";
  if (kind === "enter") return `It comes to ${name}${from}: new, so that it is marked as visited. Its operands are next.`;
  if (kind === "again") return `It comes to ${name}${from}, which is in the visited set: it turns round at once, so that nothing is listed twice.`;
  return `All operands of ${name} are listed, so that ${name} is appended.`;
}
