/** Wrong backward passes, really computed, with what each gets wrong; and the contributions that a wrong order of visits loses. */

import { backward, type Manner } from "./evaluate";
import { LEAF } from "./graph";
import type { Run } from "./run";

export interface Bug {
  readonly id: string;
  readonly name: string;
  readonly code: string;
  readonly why: string;
  readonly manner: (run: Run) => Manner;
}

/** The bugs that people write, in the order in which they meet them. */
export const BUGS: readonly Bug[] = [
  {
    id: "assign",
    name: "= in place of +=",
    code: "child.grad = local * v.grad",
    why: "A value that is used twice keeps only its last contribution; the one before is overwritten.",
    manner: () => ({ assign: true }),
  },
  {
    id: "zero",
    name: "zero_grad forgotten",
    code: "loss.backward(); …; loss.backward()  # no zero_grad between",
    why: "The gradients of the last pass are still there, and this pass adds to them.",
    manner: (run) => ({ start: leftOver(run, (node) => run.graph.kinds[node] === LEAF) }),
  },
  {
    id: "order",
    name: "no topological order",
    code: "def visit(v):\n    v._backward()\n    for child in v._prev: visit_once(child)",
    why: "A node is visited as soon as it is reached, before all its uses have sent their share; what comes later is never passed on.",
    manner: (run) => ({ order: asReached(run, true) }),
  },
  {
    id: "twice",
    name: "visiting a node twice",
    code: "for child in v._prev: visit(child)  # no visited set",
    why: "A node that is reached on two paths passes its gradient on twice, the second time with the first share still in it.",
    manner: (run) => ({ order: asReached(run, false) }),
  },
  {
    id: "stale",
    name: "stale gradients inside",
    code: "for p in parameters: p.grad = 0  # the inner nodes keep theirs",
    why: "Only the inputs were cleared. The inner nodes still hold the gradients of the last pass and send them down again.",
    manner: (run) => ({ start: leftOver(run, (node) => run.graph.kinds[node] !== LEAF && node !== run.graph.root) }),
  },
];

function leftOver(run: Run, keeps: (node: number) => boolean): Float64Array {
  return Float64Array.from({ length: run.graph.count }, (_, node) => (run.graph.isVariable(node) && keeps(node) ? run.final(node) : 0));
}

/** The most visits of a pass without a visited set: its number can grow without bound. */
const MOST = 100_000;

/** The operations in the order of a walk from the root; each once, or as often as the walk reaches it. */
function asReached(run: Run, once: boolean): number[] {
  const { graph } = run;
  const order: number[] = [];
  const seen = new Set<number>();
  const waiting = [graph.root];
  while (waiting.length && order.length < MOST) {
    const node = waiting.pop() ?? 0;
    if (graph.kinds[node] !== graph.kinds[graph.root] || (once && seen.has(node))) continue;
    seen.add(node);
    order.push(node);
    waiting.push(...graph.operandsOf(node).filter((operand) => graph.isVariable(operand)).reverse());
  }
  return order;
}

const wrongRuns = new WeakMap<Run, Map<string, Run>>();

/** The run with a bug; made once for each run. */
export function withBug(run: Run, id: string): Run {
  const known = wrongRuns.get(run) ?? new Map<string, Run>();
  wrongRuns.set(run, known);
  const bug = BUGS.find((own) => own.id === id);
  let wrong = known.get(id);
  if (wrong === undefined) known.set(id, (wrong = bug === undefined ? run : inManner(run, bug.manner(run))));
  return wrong;
}

/** The run with the same numbers, passed backward in this manner. */
export function inManner(run: Run, manner: Manner): Run {
  return backward(run.graph, run.data, run.local, run.zero, manner, false);
}

// --- the visit-order game ---------------------------------------------------------------------------

/** A node that a player places. */
export function players(run: Run): number[] {
  const { graph } = run;
  const below = new Set([graph.root]);
  for (const node of [...graph.operations].reverse()) {
    if (below.has(node)) for (const operand of graph.operandsOf(node)) below.add(operand);
  }
  return Array.from({ length: graph.count }, (_, node) => node).filter((node) => below.has(node) && graph.isVariable(node));
}

/** What came too late: a contribution to a node that had been visited before. */
export interface Late {
  readonly edge: number;
  /** The contribution, as it should have counted. */
  readonly amount: number;
  /** The input that misses most because of it, and how much. */
  readonly leaf: number;
  readonly missing: number;
  /** From the root to that input, through the edge. */
  readonly path: readonly number[];
}

/** The contributions that an order loses, the largest loss first. */
export function lateIn(run: Run, order: readonly number[]): Late[] {
  const { graph } = run;
  const position = new Map(order.map((node, k) => [node, k]));
  const late: Late[] = [];
  for (let edge = 0; edge < graph.from.length; edge++) {
    const [operand, result] = [graph.from[edge], graph.to[edge]];
    const [first, second] = [position.get(operand), position.get(result)];
    if (first === undefined || second === undefined || first > second || run.zero[edge]) continue;
    const amount = run.local[edge] * run.final(result);
    if (amount === 0) continue;
    const down = strongestWayDown(run, operand);
    late.push({ edge, amount, leaf: down.leaf, missing: amount * down.factor, path: [...wayUp(run, result).reverse(), ...down.nodes] });
  }
  return late.sort((a, b) => Math.abs(b.missing) - Math.abs(a.missing));
}

/** From a node to the root, along the use that sends most. */
function wayUp(run: Run, from: number): number[] {
  const { graph } = run;
  const path = [from];
  for (let node = from; node !== graph.root; ) {
    const uses = graph.useEdges(node).filter((edge) => !run.zero[edge]);
    const edge = largestBy(uses.length ? uses : graph.useEdges(node), (use) => Math.abs(run.local[use] * run.final(graph.to[use])));
    if (edge === undefined) break;
    node = graph.to[edge];
    path.push(node);
  }
  return path;
}

/** One node of the path, and the edge by which its gradient comes; the result has none. */
export interface Link {
  readonly node: number;
  readonly edge: number | null;
}

/** The strongest path from the result down to a node, with the edge between each two. */
export function pathTo(run: Run, node: number): Link[] {
  const way = wayUp(run, node);
  const { graph } = run;
  return way
    .map((at, k): Link => {
      const use = way[k + 1];
      if (use === undefined) return { node: at, edge: null };
      const edges = graph.operandEdges(use).filter((edge) => graph.from[edge] === at);
      edges.sort((a, b) => Math.abs(run.local[b]) - Math.abs(run.local[a]));
      return { node: at, edge: edges[0] ?? null };
    })
    .reverse();
}

/** The input with the smallest gradient. */
export function smallestInput(run: Run): number {
  let found = run.graph.leaves[0] ?? run.graph.root;
  for (const leaf of run.graph.leaves) if (Math.abs(run.final(leaf)) < Math.abs(run.final(found))) found = leaf;
  return found;
}

/** From a node to the input that it moves most along one path. */
function strongestWayDown(run: Run, from: number): { leaf: number; factor: number; nodes: number[] } {
  const { graph } = run;
  const nodes = [from];
  let factor = 1;
  for (let node = from; graph.kinds[node] !== LEAF; ) {
    const edges = graph.operandEdges(node).filter((edge) => graph.isVariable(graph.from[edge]));
    const edge = largestBy(edges, (own) => Math.abs(run.local[own]));
    if (edge === undefined) break;
    factor *= run.local[edge];
    node = graph.from[edge];
    nodes.push(node);
  }
  return { leaf: nodes[nodes.length - 1], factor, nodes };
}

function largestBy(items: readonly number[], size: (item: number) => number): number | undefined {
  let best: number | undefined;
  for (const item of items) if (best === undefined || size(item) > size(best)) best = item;
  return best;
}

/** What each input's gradient was when the input itself was visited: what arrives later is not in it. */
export function readAtVisit(wrong: Run, leaf: number): number {
  const visit = wrong.visitStep(leaf);
  return visit < 0 ? wrong.final(leaf) : (wrong.gradient(leaf, visit) ?? 0);
}
