/** The nodes and the local derivatives of a run in LaTeX. */

import { derivativeLatex, formulaLatex, operandLatex } from "../model/derivatives";
import { OPERATION } from "../model/graph";
import type { Run } from "../model/run";
import { about } from "./sentences";

/** `d = a \cdot b`, or just the name of a leaf. */
export function nodeLatex(run: Run, node: number): string {
  const { graph } = run;
  const name = operandLatex(about(run, node));
  if (graph.kinds[node] !== OPERATION) return name;
  const operands = graph.operandsOf(node).map((operand) => about(run, operand));
  return `${name} = ${formulaLatex(graph.rows[node], graph.ops[node], operands, graph.outputIndex(node))}`;
}

/** The whole rule of an edge: `\frac{\partial d}{\partial a} = b`; empty for a constant. */
export function edgeLatex(run: Run, edge: number): string {
  const { graph } = run;
  if (!graph.isVariable(graph.from[edge])) return "";
  const node = graph.to[edge];
  const operands = graph.operandsOf(node).map((operand) => about(run, operand));
  return derivativeLatex(graph.rows[node], operands, about(run, node), graph.slots[edge], run.local[edge]);
}

/** Every formula of a run in LaTeX, fit to be pasted: the forward pass, then the gradients. */
export function runLatex(run: Run, most = 60): string {
  const { graph } = run;
  const forward = Array.from(graph.operations).slice(0, most).map((node) => nodeLatex(run, node));
  const edges = graph.from.length <= most ? Array.from(graph.from, (_, edge) => edgeLatex(run, edge)).filter(Boolean) : [];
  return `\\begin{aligned}\n${[...forward, ...edges].map((line) => `  ${line.replace(" = ", " &= ")}`).join(" \\\\\n")}\n\\end{aligned}`;
}
