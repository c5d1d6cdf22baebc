/** What each step says, word for word as `retrograd explain` says it. */

import { CONSTANT } from "../model/graph";
import { repr } from "../model/numbers";
import type { Run } from "../model/run";
import { derivativeText, formulaText, type Operand } from "../model/symbols";

/** From this many inputs on, the first step names only some of them. */
const INPUTS = 16;

/** What a formula needs to know of a node. */
export function about(run: Run, node: number): Operand {
  const { graph } = run;
  return { name: graph.names[node], data: run.data[node], constant: graph.kinds[node] === CONSTANT };
}

/** A step in one sentence. */
export function stepText(run: Run, step: number): string {
  const { graph } = run;
  const node = run.nodeOf(step);
  if (node === null) return inputsText(run);
  if (step < run.forwardCount) return operationText(run, node);
  const name = graph.names[node];
  if (step === run.forwardCount) return `${name}.grad = 1.0`;
  return visitText(run, node, step);
}

function inputsText(run: Run): string {
  const { leaves, names } = run.graph;
  const shown = leaves.length > INPUTS ? leaves.slice(0, INPUTS / 2) : leaves;
  const texts = shown.map((leaf) => `${names[leaf]} = ${repr(run.data[leaf])}`);
  if (shown.length < leaves.length) texts.push(`and ${leaves.length - shown.length} more inputs`);
  return texts.join(", ");
}

/** `d = a * b = 2.0 * -3.0 = -6.0` */
export function operationText(run: Run, node: number): string {
  const { graph } = run;
  const operands = graph.operandsOf(node).map((operand) => repr(run.data[operand]));
  const numbers = formulaText(graph.rows[node], graph.ops[node], operands, graph.outputIndex(node));
  const parts = [graph.names[node], graph.formula(node), numbers, repr(run.data[node])];
  if (parts[2] === parts[3]) parts.pop();
  return parts.join(" = ");
}

function visitText(run: Run, node: number, step: number): string {
  const { graph } = run;
  const name = graph.names[node];
  const head = graph.formula(node) ? `${name} = ${graph.formula(node)}` : name;
  const grad = run.gradient(node, step - 1) ?? 0;
  if (grad === 0) return `${head}: ${name}.grad is ${repr(grad)}, so nothing flows on.`;
  const additions = run.additionsOf(step);
  const targets = additions.map((item) => graph.names[graph.from[run.additions.edge[item]]]);
  let text = `${head}: nothing flows on.`;
  if (targets.length) text = `${head}: ${name}.grad = ${repr(grad)} flows on to ${listed(targets)}.`;
  const closed = graph.operandEdges(node).filter((edge) => run.zero[edge]);
  if (closed.length) {
    const names = closed.map((edge) => graph.names[graph.from[edge]]);
    text += ` Nothing flows to ${listed(names)}: the local derivative there is zero.`;
  }
  return text;
}

/** `a`, `a and b`, `a, b and c`, or `a, b, c and 13 more`; each name once. */
export function listed(given: readonly string[]): string {
  let names = [...new Set(given)];
  if (names.length > 6) names = [...names.slice(0, 5), `${names.length - 5} more`];
  const last = names.pop() ?? "";
  return names.length ? `${names.join(", ")} and ${last}` : last;
}

/** The local derivative of an edge in symbols. */
export function edgeFormula(run: Run, edge: number): string {
  const { graph } = run;
  if (run.zero[edge]) return "0.0";
  const given = run.python ? graph.written.edgeFormula?.[edge] : undefined;
  if (given) return given;
  const node = graph.to[edge];
  const operands = graph.operandsOf(node).map((operand) => about(run, operand));
  return derivativeText(graph.rows[node], operands, about(run, node), graph.slots[edge], run.local[edge]);
}

/** `a.grad += b.data * L.grad = -3.0 * 1.0 = -3.0`; `sign` is what stands for the `+=`. */
export function additionText(run: Run, item: number, sign = "+="): string {
  const { graph, additions } = run;
  const edge = additions.edge[item];
  const node = graph.to[edge];
  const formula = edgeFormula(run, edge);
  const contribution = repr(additions.contribution[item]);
  const left = `${graph.names[graph.from[edge]]}.grad ${sign} ${formula}`;
  if (formula.endsWith("._backward()")) return `${left} = ${contribution}`;
  const upstream = run.gradient(node, run.additionStep(item) - 1) ?? 0;
  return `${left} * ${graph.names[node]}.grad = ${repr(run.local[edge])} * ${repr(upstream)} = ${contribution}`;
}
