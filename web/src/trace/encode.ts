/** A run as trace JSON, the same that `retrograd explain --format json` writes: Python reads it back and checks every sum. */

import { CONSTANT, LEAF, OPERATION } from "../model/graph";
import { repr } from "../model/numbers";
import type { Run } from "../model/run";
import { edgeLatex, nodeLatex } from "../words/latex";
import { additionText, edgeFormula, stepText } from "../words/sentences";

function json(x: number): number | string {
  return Number.isFinite(x) ? x : x !== x ? "NaN" : x > 0 ? "Infinity" : "-Infinity";
}

export function encode(run: Run): object {
  const { graph } = run;
  const steps = Array.from({ length: run.stepCount }, (_, step) => step);
  return {
    format: "retrograd-trace",
    version: 1,
    engine: graph.engine,
    title: graph.title,
    root: graph.root,
    nodes: graph.names.map((_, node) => encodeNode(run, node)),
    edges: Array.from(graph.from, (_, edge) => encodeEdge(run, edge)),
    forward: steps.filter((step) => !run.isBackward(step)).map((step) => ({ kind: step === 0 ? "inputs" : "operation", nodes: nodesOf(run, step), text: stepText(run, step) })),
    backward: steps.filter((step) => run.isBackward(step)).map((step) => ({
      kind: step === run.forwardCount ? "seed" : "visit",
      nodes: nodesOf(run, step),
      text: stepText(run, step),
      additions: run.additionsOf(step).map((item) => encodeAddition(run, item)),
    })),
  };
}

function nodesOf(run: Run, step: number): number[] {
  const node = run.nodeOf(step);
  return node === null ? run.graph.names.map((_, k) => k).filter((k) => run.graph.kinds[k] !== OPERATION) : [node];
}

function encodeNode(run: Run, node: number): object {
  const { graph } = run;
  const kind = graph.kinds[node];
  const source = graph.sources[node];
  return {
    id: node,
    name: kind === CONSTANT ? repr(run.data[node]) : graph.names[node],
    kind: kind === LEAF ? "leaf" : kind === CONSTANT ? "constant" : "operation",
    op: graph.ops[node],
    row: graph.rows[node],
    data: json(run.data[node]),
    grad: kind === CONSTANT ? null : json(run.final(node)),
    expression: graph.written.expression?.[node] ?? (kind === LEAF ? graph.names[node] : ""),
    formula: graph.formula(node),
    latex: nodeLatex(run, node),
    source: source && { file: source.file, line: source.line, function: source.function },
  };
}

function encodeEdge(run: Run, edge: number): object {
  const { graph } = run;
  const constant = !graph.isVariable(graph.from[edge]);
  return {
    id: edge,
    from: graph.from[edge],
    to: graph.to[edge],
    slot: graph.slots[edge],
    local: constant ? null : json(run.local[edge]),
    formula: constant ? "" : edgeFormula(run, edge),
    latex: edgeLatex(run, edge),
    zero: run.zero[edge] === 1,
  };
}

function encodeAddition(run: Run, item: number): object {
  const { additions } = run;
  return {
    edge: additions.edge[item],
    target: run.graph.from[additions.edge[item]],
    before: json(additions.before[item]),
    contribution: json(additions.contribution[item]),
    after: json(additions.after[item]),
    text: additionText(run, item),
  };
}
