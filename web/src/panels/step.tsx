/** What is selected, or else what the step is about: its sum with numbers, its rule, its nudge check, its source line. */

import type { JSX } from "preact";
import { nudged, nudgedRoot } from "../model/evaluate";
import { LEAF, OPERATION } from "../model/graph";
import { short, thousands } from "../model/numbers";
import { additionText, edgeFormula, operationText } from "../words/sentences";
import { addsUnseen, isCovered } from "../state/state";
import type { State, Store } from "../state/store";
import { inSigns, Num, timesOf, writer } from "../parts/num";
import { Inputs } from "./inputs";
import { RuleCard } from "./rule";

interface Props {
  readonly store: Store;
  readonly state: State;
}

export function StepPanel({ store, state }: Props): JSX.Element {
  const { selection, shown, step } = state;
  const here = shown.nodeOf(step);
  const node = selection?.kind === "node" ? selection.id : here;
  const ruled = selection?.kind === "edge" ? shown.graph.to[selection.id] : node;
  return (
    <div class="panel step">
      {here !== null && shown.isBackward(step) && <Visit state={state} node={here} />}
      {selection?.kind === "edge" && <EdgeCard store={store} state={state} edge={selection.id} />}
      {selection?.kind === "group" && <GroupCard store={store} state={state} id={selection.id} />}
      {selection?.kind !== "edge" && selection?.kind !== "group" && node !== null && <NodeCard store={store} state={state} node={node} />}
      {selection?.kind !== "group" && ruled !== null && shown.graph.kinds[ruled] === OPERATION && <RuleCard state={state} node={ruled} />}
      <Inputs store={store} state={state} />
    </div>
  );
}

/** The most additions of a step that are listed. */
const LISTED = 12;

/** What a step of the backward pass does: every `+=` that it makes. */
function Visit({ state, node }: { state: State; node: number }): JSX.Element {
  const { shown, step } = state;
  const { graph } = shown;
  const name = graph.names[node];
  const say = writer(state);
  const items = shown.additionsOf(step);
  if (step === shown.forwardCount) {
    return (
      <section class="card now" role="group" aria-label="This step">
        <h2>The seed</h2>
        <p class="sum back">{name}.grad = 1.0</p>
        <p class="hint">
          How much does {name} change when {name} changes? By as much. Every backward pass begins with this 1.
        </p>
      </section>
    );
  }
  return (
    <section class="card now" role="group" aria-label="This step">
      <h2>
        Visit {name} <small>{inSigns(graph.formula(node), state.printed)}</small>
      </h2>
      {addsUnseen(state, step) && <p class="hint">What it adds is for you to work out.</p>}
      {!addsUnseen(state, step) &&
        items.slice(0, LISTED).map((item) => (
          <div key={item}>
            <p class="sum back">{inSigns(additionText(shown, item, state.assign ? "=" : "+=", say), state.printed)}</p>
            <After state={state} item={item} />
          </div>
        ))}
      {items.length > LISTED && <p class="hint">and {items.length - LISTED} more, in the ledger</p>}
      {items.length === 0 && <p class="hint">Nothing flows on: {name}.grad is {say(shown.gradient(node, step) ?? 0)}, or every way on is closed.</p>}
    </section>
  );
}

/** What became of an addition: the sum, where something was there before, or that it was lost. */
function After({ state, item }: { state: State; item: number }): JSX.Element | null {
  const { graph, additions } = state.shown;
  const target = graph.names[graph.from[additions.edge[item]]];
  const say = writer(state);
  const [before, contribution, after] = [additions.before[item], additions.contribution[item], additions.after[item]];
  if (state.shown.wasLost(item)) return <p class="after lost">too late: {target} had been visited, and {target}.grad stays {say(after)}</p>;
  if (before === 0) return null;
  if (state.assign) return <p class="after lost">{say(before)} is overwritten: {target}.grad = {say(after)}</p>;
  return (
    <p class="after">
      now {target}.grad = {say(before)} + {say(contribution)} = {say(after)}
    </p>
  );
}

function NodeCard({ store, state, node }: Props & { node: number }): JSX.Element {
  const { shown, step } = state;
  const { graph } = shown;
  const name = graph.names[node];
  const grad = shown.gradient(node, step);
  const source = graph.sources[node];
  const say = writer(state);
  const sums = shown.ledger(node).filter((item) => !addsUnseen(state, shown.additionStep(item)));
  return (
    <section class="card" role="group" aria-label={`Details of ${name}`}>
      <h2>
        {name}
        <small>{graph.kinds[node] === LEAF ? "input" : graph.kinds[node] === OPERATION ? inSigns(graph.formula(node), state.printed) : "constant"}</small>
      </h2>
      <dl>
        <dt>data</dt>
        <dd>{shown.hasData(node, step) ? <Num state={state} x={shown.data[node]} /> : "not computed yet"}</dd>
        {graph.isVariable(node) && (
          <>
            <dt>grad</dt>
            <dd>{grad === null ? "not yet" : isCovered(state, node) ? "?" : <Num state={state} x={grad} />}</dd>
          </>
        )}
      </dl>
      {graph.kinds[node] === OPERATION && shown.hasData(node, step) && <p class="sum">{inSigns(operationText(shown, node, say), state.printed)}</p>}
      {sums.slice(0, 12).map((item) => (
        <p class="sum back" key={item}>
          {inSigns(additionText(shown, item, state.assign ? "=" : "+=", say), state.printed)}
        </p>
      ))}
      <Total state={state} node={node} items={sums} />
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
        {graph.isVariable(node) && shown.isBackward(step) && (
          <>
            <button type="button" onClick={() => store.setTab("ledger")}>
              Ledger
            </button>
            <button type="button" onClick={() => store.setTab("why")}>
              Why this gradient?
            </button>
          </>
        )}
        {graph.kinds[node] === LEAF && graph.computable && (
          <button type="button" onClick={() => store.setTab("slope")}>
            Its slope
          </button>
        )}
      </p>
    </section>
  );
}

/** The contributions that have come so far as one sum: `b.grad = 4.0 + (-2.0) = 2.0`. */
function Total({ state, node, items }: { state: State; node: number; items: readonly number[] }): JSX.Element | null {
  const { shown, step, assign } = state;
  const start = shown.seeded(node);
  const parts = [...(start === 0 ? [] : [start]), ...items.map((item) => shown.additions.contribution[item])];
  if (items.length === 0 || parts.length < 2 || parts.length > 12 || assign || items.some((item) => shown.wasLost(item))) return null;
  const say = writer(state);
  const texts = parts.map((x, k) => (k > 0 && x < 0 ? `(${say(x)})` : say(x)));
  return (
    <p class="sum back total">
      {shown.graph.names[node]}.grad = {texts.join(" + ")} = {say(shown.gradient(node, step) ?? 0)}
    </p>
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
      <section class="card" role="group" aria-label={`Details of ${group.name}`}>
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
  );
}

/** Try the gradient out: nudge the input and see the result move. */
function NodeNudge({ state, node }: { state: State; node: number }): JSX.Element | null {
  const { shown, step } = state;
  const { graph } = shown;
  if (step < shown.stepCount - 1 || !graph.isVariable(node) || isCovered(state, node)) return null;
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
      <section class="card">
        <h2>
          {a} → {y}
        </h2>
        <p>A constant: nothing flows back to it.</p>
      </section>
    );
  }
  const upstream = isCovered(state, result) ? null : shown.gradient(result, step);
  const visit = shown.visitStep(result);
  const item = shown.additionsOf(visit).find((k) => shown.additions.edge[k] === edge);
  const done = !addsUnseen(state, visit) && item !== undefined;
  return (
      <section class="card edge" role="group" aria-label={`Edge from ${a} to ${y}`}>
        <h2>
          {a} → {y}
          <small>operand {graph.slots[edge] + 1} of {inSigns(graph.formula(result), state.printed)}</small>
        </h2>
        <div class="product" role="img" aria-label="local times upstream is the contribution">
          <Factor label="local" value={shown.zero[edge] ? "0 (closed)" : short(shown.local[edge], 6)} note={`∂${y}/∂${a} = ${inSigns(edgeFormula(shown, edge), state.printed)}`} />
          <span class="sign">{timesOf(state)}</span>
          <Factor label="upstream" value={upstream === null ? "·" : short(upstream, 6)} note={`${y}.grad`} />
          <span class="sign">=</span>
          <Factor label="contribution" value={done ? short(shown.additions.contribution[item], 6) : "·"} note={`to ${a}.grad`} />
        </div>
        {done && <p class="sum back">{inSigns(additionText(shown, item, state.assign ? "=" : "+=", writer(state)), state.printed)}</p>}
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
