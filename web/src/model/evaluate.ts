/** Computes a graph in the page: forward with the op table's functions, its local derivatives, and the backward pass. */

import { truth } from "./conditions";
import { NAME, parseOnce } from "./formula";
import { CONSTANT, type Graph, OPERATION } from "./graph";
import { type Additions, Run } from "./run";
import { NARY_ROWS, type NaryOp, ROWS } from "./table";

/** Why a graph has no value: an operand outside the domain, as Python would raise. */
export class DomainProblem extends Error {
  constructor(
    readonly node: number,
    message: string,
  ) {
    super(message);
  }
}

/** How a backward pass deviates from the right one; a missing member means that it does not. */
export interface Manner {
  /** The nodes to visit, instead of the operations from the newest to the oldest. */
  readonly order?: Int32Array | readonly number[];
  /** `=` where `+=` belongs. */
  readonly assign?: boolean;
  /** A node that has been visited takes nothing more: what comes later is lost, as it is when its gradient has been read. */
  readonly closed?: boolean;
  /** Gradients that are there before the pass. */
  readonly start?: Float64Array | null;
  /** What a function of the user's contributes to each operand, in place of local × upstream. */
  readonly own?: ReadonlyMap<number, readonly number[]>;
}

/** The whole run of a graph at these numbers of its leaves and constants. Raises DomainProblem where Python would raise. */
export function evaluate(graph: Graph, inputs: Float64Array): Run {
  const data = forward(graph, inputs);
  const { local, zero } = locals(graph, data);
  return backward(graph, data, local, zero, {}, false);
}

/** The result of every node. Operands are taken from `inputs` for leaves and constants. */
export function forward(graph: Graph, inputs: Float64Array): Float64Array {
  const data = inputs.slice();
  for (const node of graph.operations) {
    if (graph.rows[node] === "where") decideAgain(graph, node, data);
    data[node] = compute(graph, node, data);
  }
  return data;
}

/** The condition of a `where`, where it was written as a comparison, decided by the numbers as they are now. */
function decideAgain(graph: Graph, node: number, data: Float64Array): void {
  const condition = graph.from[graph.first[node]];
  const text = graph.written.expression?.[condition] ?? "";
  if (graph.kinds[condition] !== CONSTANT || !/[<>]|[!=]=/.test(text)) return;
  const around = new Map<string, { data: number }>();
  for (const [name] of text.matchAll(new RegExp(NAME, "g"))) {
    const id = graph.find(name);
    if (id !== undefined) around.set(name, { data: data[id] });
    else if (!ROWS.has(name)) return;
  }
  data[condition] = truth(parseOnce(text), around) ? 1 : 0;
}

function compute(graph: Graph, node: number, data: Float64Array): number {
  const operands = operandData(graph, node, data);
  const row = ROWS.get(graph.rows[node]);
  if (row !== undefined) {
    const y = row.f(...operands);
    const broken = row.domain.find(([holds]) => holds(...operands, y));
    if (broken !== undefined) throw new DomainProblem(node, broken[1]);
    return y;
  }
  const nary = NARY_ROWS.get(graph.rows[node]);
  if (nary === undefined) throw new DomainProblem(node, "how this node is computed is known to Python alone");
  return fold(nary, operands, graph.outputIndex(node));
}

function operandData(graph: Graph, node: number, data: Float64Array): number[] {
  const operands: number[] = [];
  for (let edge = graph.first[node]; edge < graph.first[node + 1]; edge++) operands.push(data[graph.from[edge]]);
  return operands;
}

function largest(xs: readonly number[]): number {
  let m = -Infinity;
  for (const a of xs) m = m !== m || m >= a ? m : a;
  return m;
}

/** One result of a row over a sequence: a fold from left to right. */
function fold(row: NaryOp, operands: readonly number[], output: number): number {
  const count = row.paired ? operands.length / 2 : operands.length;
  const m = largest(operands.slice(0, count));
  let s = row.init;
  for (let k = 0; k < count; k++) s = row.step(s, operands[k], row.paired ? operands[count + k] : operands[k], m);
  return row.finish(s, row.outputs ? operands[output] : 0, m, count);
}

/** The local derivative of every edge, NaN for a constant's, and whether it is structurally zero. */
export function locals(graph: Graph, data: Float64Array): { local: Float64Array; zero: Uint8Array } {
  const local = new Float64Array(graph.from.length).fill(NaN);
  const zero = new Uint8Array(graph.from.length);
  for (const node of graph.operations) {
    const operands = operandData(graph, node, data);
    const partials = derivatives(graph, node, operands, data[node]);
    for (let edge = graph.first[node]; edge < graph.first[node + 1]; edge++) {
      if (!graph.isVariable(graph.from[edge])) continue;
      const partial = partials(graph.slots[edge]);
      local[edge] = partial ?? 0;
      zero[edge] = partial === null ? 1 : 0;
    }
  }
  return { local, zero };
}

function derivatives(graph: Graph, node: number, operands: readonly number[], y: number): (slot: number) => number | null {
  const row = ROWS.get(graph.rows[node]);
  if (row !== undefined) return (slot) => row.p[slot](...operands, y);
  const nary = NARY_ROWS.get(graph.rows[node]);
  if (nary === undefined) return () => NaN;
  const half = nary.paired ? operands.length / 2 : operands.length;
  const xs = operands.slice(0, half);
  const ys = nary.paired ? operands.slice(half) : xs;
  const ties = y !== y ? half : xs.filter((x) => x === y).length;
  const rest = rests(nary, xs, graph.outputIndex(node));
  return (slot) => nary.p[Math.floor(slot / half)](xs[slot % half], ys[slot % half], y, half, ties, rest[slot % half]);
}

/** What a formula calls `rest`, for each operand (see the op table). */
function rests(row: NaryOp, xs: readonly number[], output: number): readonly number[] {
  if (row.name === "prod") return productsOfOthers(xs);
  const softmax = NARY_ROWS.get("softmax");
  if (softmax === undefined || (row.name !== "logsumexp" && row.name !== "softmax")) return xs.map(() => 0);
  const shares = xs.map((_, k) => fold(softmax, xs, k));
  if (row.name === "logsumexp") return shares;
  let others = 0;
  shares.forEach((share, k) => {
    if (k !== output) others += share;
  });
  return shares.map((share, k) => (k === output ? others : -share));
}

function productsOfOthers(xs: readonly number[]): number[] {
  const before = [1];
  const after = [1];
  for (const x of xs) before.push(before[before.length - 1] * x);
  for (const x of [...xs].reverse()) after.push(after[after.length - 1] * x);
  return xs.map((_, k) => before[k] * after[xs.length - 1 - k]);
}

/** A backward pass: seed the root with 1, then visit one node after the other. */
export function backward(
  graph: Graph,
  data: Float64Array,
  local: Float64Array,
  zero: Uint8Array,
  manner: Manner,
  python: boolean,
): Run {
  const order = Int32Array.from(manner.order ?? graph.operations.slice().reverse());
  const grads = manner.start?.slice() ?? new Float64Array(graph.count);
  grads[graph.root] = 1;
  const visited = new Uint8Array(graph.count);
  const columns = { edge: [] as number[], before: [] as number[], contribution: [] as number[], after: [] as number[], step: [] as number[] };
  order.forEach((node, position) => {
    const upstream = grads[node];
    visited[node] = 1;
    if (upstream === 0) return;
    const own = manner.own?.get(node);
    for (let edge = graph.first[node]; edge < graph.first[node + 1]; edge++) {
      const operand = graph.from[edge];
      if (zero[edge] || !graph.isVariable(operand)) continue;
      const before = grads[operand];
      const contribution = own === undefined ? local[edge] * upstream : own[graph.slots[edge]];
      if (own !== undefined && contribution === 0) continue;
      if (!(manner.closed && visited[operand])) grads[operand] = manner.assign ? contribution : before + contribution;
      columns.edge.push(edge);
      columns.before.push(before);
      columns.contribution.push(contribution);
      columns.after.push(grads[operand]);
      columns.step.push(position + 1);
    }
  });
  const additions: Additions = {
    edge: Int32Array.from(columns.edge),
    before: Float64Array.from(columns.before),
    contribution: Float64Array.from(columns.contribution),
    after: Float64Array.from(columns.after),
    step: Int32Array.from(columns.step),
  };
  return new Run(graph, data, local, zero, order, additions, python, manner.start ?? null);
}

/** The result with one operand occurrence nudged: what an edge's local derivative claims, tried out. */
export function nudged(graph: Graph, run: Run, edge: number, by: number): number {
  const node = graph.to[edge];
  const data = run.data;
  const operands = operandData(graph, node, data);
  operands[graph.slots[edge]] += by;
  const row = ROWS.get(graph.rows[node]);
  if (row !== undefined) return row.f(...operands);
  const nary = NARY_ROWS.get(graph.rows[node]);
  return nary === undefined ? NaN : fold(nary, operands, graph.outputIndex(node));
}

/** The root when a leaf is nudged: what its gradient claims, tried out. NaN where that is outside the domain. */
export function nudgedRoot(graph: Graph, run: Run, leaf: number, by: number): number {
  const inputs = run.data.slice();
  inputs[leaf] += by;
  try {
    return forward(graph, inputs)[graph.root];
  } catch (problem) {
    if (problem instanceof DomainProblem) return NaN;
    throw problem;
  }
}

/** Whether a node is computed from others. */
export function isOperation(graph: Graph, node: number): boolean {
  return graph.kinds[node] === OPERATION;
}
