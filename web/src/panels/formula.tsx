/** The formula: the whole expression with every part to be clicked, the derivatives beside it, and all of it as LaTeX. */

import type { ComponentChildren, JSX } from "preact";
import { INFIX } from "../../ops.gen";
import { partialOf } from "../model/derivatives";
import { parseOnce } from "../model/formula";
import { OPERATION } from "../model/graph";
import { signed, short } from "../model/numbers";
import { ROWS } from "../model/table";
import { nodeLatex, runLatex } from "../words/latex";
import { about, edgeFormula } from "../words/sentences";
import type { State, Store } from "../state/store";
import { CopyButton } from "../parts/copy";
import { Derivative, formulaMaths, Maths, type Names } from "../parts/math";

interface Props {
  readonly store: Store;
  readonly state: State;
}

/** A formula with more parts than this is cut where it is deep. */
const MOST = 160;

export function FormulaPanel({ store, state }: Props): JSX.Element {
  const { shown, selection } = state;
  const { graph } = shown;
  const node = selection?.kind === "node" ? selection.id : selection?.kind === "edge" ? graph.to[selection.id] : (shown.nodeOf(state.step) ?? graph.root);
  const budget = { left: MOST };
  const names = nameMaths(store, state);
  return (
    <div class="panel formulas">
      <section class="card" aria-label="The whole formula">
        <h2>The whole formula</h2>
        <p class="whole">
          <Part store={store} state={state} node={graph.root}>
            {graph.names[graph.root]}
          </Part>{" "}
          = {expanded(store, state, graph.root, budget, false)}
        </p>
        <p class="hint">Click any part to select it.</p>
      </section>
      {graph.kinds[node] === OPERATION && (
        <section class="card" aria-label={`The formula of ${graph.names[node]}`}>
          <h2>{graph.names[node]}, and its local derivatives</h2>
          <p class="maths">
            <Maths>
              {names(node)}
              <mo>=</mo>
              {forwardMaths(state, node, names)}
              <mo>=</mo>
              <mn>{short(shown.data[node])}</mn>
            </Maths>
          </p>
          {graph.operandEdges(node).filter((edge) => graph.isVariable(graph.from[edge])).slice(0, 12).map((edge) => (
            <p class="maths" key={edge}>
              <button type="button" aria-label={`The derivative of ${graph.names[node]} by ${graph.names[graph.from[edge]]}: ${edgeFormula(shown, edge)} = ${signed(shown.local[edge])}`} class={`link${selection?.kind === "edge" && selection.id === edge ? " chosen" : ""}`} onClick={() => store.select({ kind: "edge", id: edge })}>
                <Maths>
                  <Derivative of={graph.names[node]} by={graph.names[graph.from[edge]]} />
                  <mo>=</mo>
                  {partialMaths(state, edge, names)}
                  <mo>=</mo>
                  <mn>{signed(shown.local[edge])}</mn>
                </Maths>
              </button>
            </p>
          ))}
        </section>
      )}
      <section class="card" aria-label="LaTeX">
        <h2>LaTeX</h2>
        <pre class="latex" tabIndex={0}>{nodeLatex(shown, node)}</pre>
        <p class="actions">
          <CopyButton text={nodeLatex(shown, node)}>Copy this line</CopyButton>
          <CopyButton text={runLatex(shown)}>Copy everything</CopyButton>
        </p>
      </section>
    </div>
  );
}

type NodeNames = (node: number) => JSX.Element;

function nameMaths(store: Store, state: State): NodeNames {
  const { graph } = state.shown;
  return (node) => (
    <mi class={state.selection?.kind === "node" && state.selection.id === node ? "chosen" : ""} data-symbol={node} onClick={() => store.show(node)}>
      {graph.isVariable(node) ? graph.names[node] : short(state.shown.data[node])}
    </mi>
  );
}

function forwardMaths(state: State, node: number, names: NodeNames): JSX.Element {
  const { graph } = state.shown;
  const row = ROWS.get(graph.rows[node]);
  const operands = graph.operandsOf(node);
  if (row === undefined) return <mtext>{graph.formula(node)}</mtext>;
  const letters = [..."abc"].slice(0, operands.length);
  return formulaMaths(parseOnce(displayed(graph.rows[node], letters)), (name) => (letters.includes(name) ? names(operands[letters.indexOf(name)]) : null));
}

/** A row of the op table as a formula of its operands. */
function displayed(row: string, letters: readonly string[]): string {
  if (row === "neg") return "-a";
  return /^[-+*\/]$/.test(INFIX[row] ?? "") ? `a ${INFIX[row]} b` : `${row}(${letters.join(", ")})`;
}

function partialMaths(state: State, edge: number, names: NodeNames): JSX.Element {
  const { shown } = state;
  const { graph } = shown;
  const node = graph.to[edge];
  const operands = graph.operandsOf(node);
  const partial = partialOf(graph.rows[node], operands.map((operand) => about(shown, operand)), about(shown, node), graph.slots[edge], shown.local[edge]);
  if (partial === null) return <mtext>known to Python alone</mtext>;
  const own: Names = (name) => {
    const operand = partial.around.get(name);
    if (operand === undefined) return null;
    const id = name === "y" ? node : graph.find(operand.name);
    return id === undefined || operand.constant ? <mn>{short(operand.data)}</mn> : names(id);
  };
  return formulaMaths(parseOnce(partial.text), own);
}

// --- the whole expression ---------------------------------------------------------------------------

const TIGHT: Readonly<Record<string, number>> = { add: 1, sub: 1, mul: 2, div: 2, mod: 2, floordiv: 2, neg: 2, pow: 3 };

function expanded(store: Store, state: State, node: number, budget: { left: number }, inside: boolean): ComponentChildren {
  const { graph } = state.shown;
  if (graph.kinds[node] !== OPERATION || --budget.left < 0) {
    const text = graph.isVariable(node) ? graph.names[node] : short(state.shown.data[node]);
    return (
      <Part store={store} state={state} node={node}>
        {text}
      </Part>
    );
  }
  const level = TIGHT[graph.rows[node]] ?? 4;
  const operands = graph.operandsOf(node);
  const parts = operands.map((operand, slot) => {
    const own = graph.kinds[operand] === OPERATION ? (TIGHT[graph.rows[operand]] ?? 4) : 4;
    const wrap = level < 4 && (own < level || (own === level && (slot > 0 || level === 3)));
    return expanded(store, state, operand, budget, wrap);
  });
  const text = joined(graph.rows[node], graph.ops[node], parts);
  return (
    <Part store={store} state={state} node={node}>
      {inside ? ["(", text, ")"] : text}
    </Part>
  );
}

const BETWEEN: Readonly<Record<string, string>> = { add: " + ", sub: " − ", mul: " · ", div: " / ", mod: " mod ", floordiv: " // ", pow: "**" };

function joined(row: string, label: string, parts: readonly ComponentChildren[]): ComponentChildren {
  const sign = BETWEEN[row];
  if (sign !== undefined) return [parts[0], sign, parts[1]];
  if (row === "neg") return ["−", parts[0]];
  return [row === "user" ? label || "user" : row, "(", parts.map((part, k) => (k === 0 ? part : [", ", part])), ")"];
}

function Part({ store, state, node, children }: Props & { node: number; children: ComponentChildren }): JSX.Element {
  const chosen = state.selection?.kind === "node" && state.selection.id === node;
  const now = state.shown.nodeOf(state.step) === node;
  return (
    <span
      class={`part${chosen ? " chosen" : ""}${now ? " now" : ""}`}
      data-part={node}
      onClick={(event) => {
        event.stopPropagation();
        store.show(node);
      }}
    >
      {children}
    </span>
  );
}
