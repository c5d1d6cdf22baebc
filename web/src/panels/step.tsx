/** What is selected, or else what the step is about: its sum with numbers, its rule, its nudge check, its source line. */

import type { ComponentChildren, JSX } from "preact";
import { nudged, nudgedRoot } from "../model/evaluate";
import { LEAF, OPERATION } from "../model/graph";
import { readNumber, repr, short, thousands } from "../model/numbers";
import { additionText, edgeFormula, operationText } from "../words/sentences";
import type { State, Store } from "../state/store";
import { RuleCard } from "./rule";

interface Props {
  readonly store: Store;
  readonly state: State;
}

export function StepPanel({ store, state }: Props): JSX.Element {
  const { selection, shown, step } = state;
  if (selection?.kind === "edge") return <EdgeCard store={store} state={state} edge={selection.id} />;
  const node = selection?.kind === "node" ? selection.id : shown.nodeOf(step);
  if (selection?.kind === "group") return <GroupCard store={store} state={state} id={selection.id} />;
  if (node === null) return <Inputs store={store} state={state} />;
  return (
    <div class="panel step">
      <NodeCard store={store} state={state} node={node} />
      {shown.graph.kinds[node] === OPERATION && <RuleCard state={state} node={node} />}
      <Inputs store={store} state={state} />
    </div>
  );
}

function NodeCard({ store, state, node }: Props & { node: number }): JSX.Element {
  const { shown, step } = state;
  const { graph } = shown;
  const name = graph.names[node];
  const grad = shown.gradient(node, step);
  const source = graph.sources[node];
  const sums = shown.ledger(node).filter((item) => shown.additionStep(item) <= step && !(state.hidden && shown.additionStep(item) === step));
  return (
    <section class="card" aria-label={`Details of ${name}`}>
      <h2>
        {name}
        <small>{graph.kinds[node] === LEAF ? "input" : graph.kinds[node] === OPERATION ? graph.formula(node) : "constant"}</small>
      </h2>
      <dl>
        <dt>data</dt>
        <dd class="number">{shown.hasData(node, step) ? repr(shown.data[node]) : "not computed yet"}</dd>
        {graph.isVariable(node) && (
          <>
            <dt>grad</dt>
            <dd class="number">{state.hidden ? "?" : grad === null ? "not yet" : repr(grad)}</dd>
          </>
        )}
      </dl>
      {graph.kinds[node] === OPERATION && shown.hasData(node, step) && <p class="sum">{operationText(shown, node)}</p>}
      {sums.slice(0, 12).map((item) => (
        <p class="sum back" key={item}>
          {additionText(shown, item, state.assign ? "=" : "+=")}
        </p>
      ))}
      {graph.kinds[node] === LEAF && graph.computable && <NodeNudge state={state} node={node} />}
      {source && (
        <p class="source">
          <code>{source.text}</code>
          <small>
            {source.file.split(/[\\/]/).pop()}:{source.line}, in {source.function}
          </small>
        </p>
      )}
      {graph.kinds[node] === OPERATION && <Operands store={store} state={state} node={node} />}
      <Crumbs store={store} state={state} node={node} />
      <p class="actions">
        <button type="button" onClick={() => store.setTab("ledger")}>
          Ledger
        </button>
        {graph.isVariable(node) && (
          <button type="button" onClick={() => store.setTab("why")}>
            Why this gradient?
          </button>
        )}
      </p>
    </section>
  );
}

/** The wires that come in, each to be looked at. */
function Operands({ store, state, node }: Props & { node: number }): JSX.Element {
  const { graph } = state.shown;
  return (
    <p class="operands">
      <span>operands</span>
      {graph.operandEdges(node).slice(0, 12).map((edge) => (
        <button type="button" key={edge} data-operand={edge} onClick={() => store.select({ kind: "edge", id: edge })}>
          {graph.names[graph.from[edge]]}
        </button>
      ))}
    </p>
  );
}

/** Where a node is in the program, the outermost group first; each can be folded. */
function Crumbs({ store, state, node }: Props & { node: number }): JSX.Element | null {
  const groups = [...state.tree.around(state.tree.home[node])].reverse().slice(1);
  if (groups.length === 0) return null;
  return (
    <p class="operands">
      <span>inside</span>
      {groups.map((group) => (
        <button type="button" key={group.id} title={`Fold ${group.name}`} onClick={() => store.fold(group.id)}>
          {group.name}
        </button>
      ))}
    </p>
  );
}

/** A folded group: what it is, and how to see inside. */
function GroupCard({ store, state, id }: Props & { id: number }): JSX.Element {
  const group = state.tree.groups[id];
  return (
    <div class="panel step">
      <section class="card" aria-label={`Details of ${group.name}`}>
        <h2>
          {group.name}
          <small>{group.path === group.name ? "" : group.path}</small>
        </h2>
        <dl>
          <dt>{group.size ? "operations" : "inputs"}</dt>
          <dd class="number">{thousands(group.size || group.count)}</dd>
          <dt>groups inside</dt>
          <dd class="number">{group.groups.length}</dd>
        </dl>
        <p class="actions">
          <button type="button" class="primary" onClick={() => store.toggleGroup(id)}>
            {state.open.has(id) ? "Fold" : "Unfold"}
          </button>
        </p>
      </section>
    </div>
  );
}

/** Try the gradient out: nudge the input and see the result move. */
function NodeNudge({ state, node }: { state: State; node: number }): JSX.Element | null {
  const { shown, step } = state;
  const { graph } = shown;
  if (step < shown.stepCount - 1 || !graph.isVariable(node)) return null;
  const h = 1e-6 * Math.max(1, Math.abs(shown.data[node]));
  const slope = (nudgedRoot(graph, shown, node, h) - nudgedRoot(graph, shown, node, -h)) / (2 * h);
  if (!Number.isFinite(slope)) return null;
  return (
    <p class="nudge">
      <b>Nudge check.</b> {graph.names[node]} ± {short(h, 2)} moves {graph.names[graph.root]} by {short(slope, 6)} for each unit; the gradient says{" "}
      {short(shown.final(node), 6)}.
    </p>
  );
}

function EdgeCard({ store, state, edge }: Props & { edge: number }): JSX.Element {
  const { shown, step } = state;
  const { graph } = shown;
  const [operand, result] = [graph.from[edge], graph.to[edge]];
  const [a, y] = [graph.names[operand], graph.names[result]];
  if (!graph.isVariable(operand)) {
    return (
      <div class="panel step">
        <section class="card">
          <h2>
            {a} → {y}
          </h2>
          <p>A constant: nothing flows back to it.</p>
        </section>
      </div>
    );
  }
  const upstream = shown.gradient(result, step);
  const visit = shown.visitStep(result);
  const item = shown.additionsOf(visit).find((k) => shown.additions.edge[k] === edge);
  const done = visit <= step && item !== undefined;
  return (
    <div class="panel step">
      <section class="card edge" aria-label={`Edge from ${a} to ${y}`}>
        <h2>
          {a} → {y}
          <small>operand {graph.slots[edge] + 1} of {graph.formula(result)}</small>
        </h2>
        <div class="product" role="img" aria-label="local times upstream is the contribution">
          <Factor label="local" value={shown.zero[edge] ? "0 (closed)" : short(shown.local[edge], 6)} note={`∂${y}/∂${a} = ${edgeFormula(shown, edge)}`} />
          <span class="sign">×</span>
          <Factor label="upstream" value={upstream === null ? "·" : short(upstream, 6)} note={`${y}.grad`} />
          <span class="sign">=</span>
          <Factor label="contribution" value={done ? short(shown.additions.contribution[item], 6) : "·"} note={`to ${a}.grad`} />
        </div>
        {done && <p class="sum back">{additionText(shown, item, state.assign ? "=" : "+=")}</p>}
        <EdgeNudge state={state} edge={edge} />
        <p class="actions">
          {visit >= 0 && (
            <button type="button" onClick={() => store.goTo(visit, true)}>
              Go to its step
            </button>
          )}
          <button type="button" onClick={() => store.show(operand)}>
            {a}
          </button>
          <button type="button" onClick={() => store.show(result)}>
            {y}
          </button>
        </p>
      </section>
      <RuleCard state={state} node={result} />
    </div>
  );
}

function Factor({ label, value, note }: { label: string; value: string; note: string }): JSX.Element {
  return (
    <span class="factor">
      <small>{label}</small>
      <b class="number">{value}</b>
      <small class="note">{note}</small>
    </span>
  );
}

/** The local derivative tried out: nudge this one occurrence and leave every other use alone. */
function EdgeNudge({ state, edge }: { state: State; edge: number }): JSX.Element | null {
  const { shown } = state;
  const { graph } = shown;
  const [operand, result] = [graph.from[edge], graph.to[edge]];
  if (graph.rows[result] === "user") return null;
  const h = 1e-6 * Math.max(1, Math.abs(shown.data[operand]));
  const slope = (nudged(graph, shown, edge, h) - nudged(graph, shown, edge, -h)) / (2 * h);
  if (!Number.isFinite(slope)) return null;
  return (
    <p class="nudge">
      <b>Nudge check.</b> {graph.names[operand]} ± {short(h, 2)} in this place alone moves {graph.names[result]} by {short(slope, 6)} for each unit; the rule says{" "}
      {short(shown.local[edge], 6)}.
    </p>
  );
}

/** The inputs, to be changed: everything is computed again at once. */
export function Inputs({ store, state }: Props): JSX.Element {
  const { run } = state;
  const { graph } = run;
  const chosen = state.selection?.kind === "node" && graph.kinds[state.selection.id] === LEAF ? [state.selection.id] : [];
  const few = graph.leaves.length <= 24;
  const leaves = few ? graph.leaves : chosen;
  const note: ComponentChildren = few ? null : <p class="hint">Select an input in the graph to change it.</p>;
  if (!graph.computable) return <p class="hint">A node of this graph was made by a function of yours, so that the page cannot compute it again.</p>;
  return (
    <section class="inputs" aria-label="Inputs">
      <h3>
        Inputs <small>change one and everything follows</small>
      </h3>
      {note}
      {run.graph.engine !== "page" && !run.python && !graph.written.expression?.[graph.root] && (
        <p class="hint">The recorded operations are computed again. A branch that your program took stays taken.</p>
      )}
      <div class="fields">
        {leaves.map((leaf) => (
          <label key={leaf} class={state.edits.has(leaf) ? "edited" : ""}>
            <span>{graph.names[leaf]}</span>
            <input
              type="text"
              inputMode="decimal"
              data-leaf={leaf}
              value={repr(run.data[leaf])}
              onChange={(event) => {
                const value = readNumber(event.currentTarget.value);
                if (value === value) store.edit(leaf, value);
                else store.set({ problem: `“${event.currentTarget.value}” is not a number.` });
                event.currentTarget.value = repr(store.state.run.data[leaf]);
              }}
            />
            <span class="nudges">
              <button type="button" tabIndex={-1} aria-label={`${graph.names[leaf]} down`} onClick={() => store.edit(leaf, nearby(run.data[leaf], -1))}>
                −
              </button>
              <button type="button" tabIndex={-1} aria-label={`${graph.names[leaf]} up`} onClick={() => store.edit(leaf, nearby(run.data[leaf], 1))}>
                +
              </button>
            </span>
          </label>
        ))}
      </div>
    </section>
  );
}

/** A tenth more or less, without a tail of digits. */
function nearby(value: number, by: number): number {
  const unit = Math.abs(value) >= 100 ? 10 : 0.1;
  return Number((value + by * unit).toPrecision(12));
}
