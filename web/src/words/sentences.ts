/** What each step says: fills in the sentences that `retrograd explain` says too (see trace/sentences.py). */

import { INPUTS, LISTED, SENTENCES } from "../../ops.gen";
import { derivativeText, formulaText, type Operand } from "../model/derivatives";
import { CONSTANT } from "../model/graph";
import { fill } from "../model/notation";
import { repr } from "../model/numbers";
import type { Run } from "../model/run";

/** A sentence with its parts. */
function say(sentence: keyof typeof SENTENCES, parts: Readonly<Record<string, string | number>>): string {
  return fill(SENTENCES[sentence], [], parts);
}

/** What a formula needs to know of a node. */
export function about(run: Run, node: number): Operand {
  const { graph } = run;
  return { name: graph.names[node], data: run.data[node], constant: graph.kinds[node] === CONSTANT };
}

/** How a number is written in a sentence. */
export type Writer = (x: number) => string;

/** A step in one sentence. */
export function stepText(run: Run, step: number, number: Writer = repr): string {
  const { graph } = run;
  const node = run.nodeOf(step);
  if (node === null) return inputsText(run, number);
  if (step < run.forwardCount) return operationText(run, node, number);
  if (step === run.forwardCount) return say("seed", { name: graph.names[node] });
  return visitText(run, node, step, number);
}

function inputsText(run: Run, number: Writer): string {
  const { leaves, names } = run.graph;
  const shown = leaves.length > INPUTS ? leaves.slice(0, INPUTS / 2) : leaves;
  const texts = shown.map((leaf) => say("input", { name: names[leaf], data: number(run.data[leaf]) }));
  if (shown.length < leaves.length) texts.push(say("moreInputs", { count: leaves.length - shown.length }));
  return texts.join(", ");
}

/** `d = a * b = 2.0 * -3.0 = -6.0` */
export function operationText(run: Run, node: number, number: Writer = repr): string {
  const { graph } = run;
  const operands = graph.operandsOf(node).map((operand) => number(run.data[operand]));
  const numbers = formulaText(graph.rows[node], graph.ops[node], operands, graph.outputIndex(node));
  const parts = [graph.names[node], graph.formula(node), numbers, number(run.data[node])];
  if (parts[2] === parts[3]) parts.pop();
  return parts.join(" = ");
}

function visitText(run: Run, node: number, step: number, number: Writer): string {
  const { graph } = run;
  const name = graph.names[node];
  const grad = run.gradient(node, step - 1) ?? 0;
  const said = { name, grad: number(grad), visit: graph.formula(node) ? say("visit", { name, formula: graph.formula(node) }) : name };
  if (grad === 0) return say("stopped", said);
  const amounts = new Map<string, string[]>();
  for (const item of run.additionsOf(step)) {
    const target = graph.names[graph.from[run.additions.edge[item]]];
    amounts.set(target, [...(amounts.get(target) ?? []), number(run.additions.contribution[item])]);
  }
  const shares = [...amounts].map(([target, own]) => say("share", { name: target, amount: own.join(" + ") }));
  const closed = graph.operandEdges(node).filter((edge) => run.zero[edge]).map((edge) => graph.names[graph.from[edge]]);
  const targets = listed(closed);
  if (shares.length === 0) return say(targets ? "allClosed" : "flowsNowhere", { ...said, targets });
  return say("flows", { ...said, shares: listed(shares) }) + (targets ? say("closed", { targets }) : "");
}

/** `a`, `a and b`, `a, b and c`, or `a, b, c and 13 more`; each name once. */
export function listed(given: readonly string[]): string {
  let names = [...new Set(given)];
  if (names.length > LISTED) names = [...names.slice(0, LISTED - 1), say("moreNames", { count: names.length - LISTED + 1 })];
  const last = names.pop() ?? "";
  return names.length ? say("lastName", { names: names.join(", "), last }) : last;
}

/** The local derivative of an edge in symbols. */
export function edgeFormula(run: Run, edge: number): string {
  const { graph } = run;
  if (run.zero[edge]) return "0.0";
  const node = graph.to[edge];
  if (isOwn(run, node)) return say("ownDerivative", { name: graph.names[node] });
  const operands = graph.operandsOf(node).map((operand) => about(run, operand));
  return derivativeText(graph.rows[node], operands, about(run, node), graph.slots[edge], run.local[edge]);
}

/** `a.grad += b.data * L.grad = -3.0 * 1.0 = -3.0`; `sign` is what stands for the `+=`. */
export function additionText(run: Run, item: number, sign = "+=", number: Writer = repr): string {
  const { graph, additions } = run;
  const edge = additions.edge[item];
  const node = graph.to[edge];
  const formula = edgeFormula(run, edge);
  return say(isOwn(run, node) ? "ownAddition" : "addition", {
    target: graph.names[graph.from[edge]],
    sign,
    formula,
    name: graph.names[node],
    local: number(run.local[edge]),
    upstream: number(run.gradient(node, run.additionStep(item) - 1) ?? 0),
    contribution: number(additions.contribution[item]),
  });
}

/** Whether a node's contributions come from a `_backward` that the user wrote. */
function isOwn(run: Run, node: number): boolean {
  return run.python && (run.graph.written.own?.has(node) ?? false);
}
