/** Wrong backward passes, really computed, with what each gets wrong. */

import { backward, type Manner } from "../model/evaluate";
import { LEAF, OPERATION } from "../model/graph";
import type { Run } from "../model/run";

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
    code: "def visit(v):\n    if v in visited: return\n    visited.add(v)\n    v._backward()  # before its other uses have sent their share\n    for child in v._children: visit(child)",
    why: "A node is visited as soon as it is reached, before all its uses have sent their share; what comes later is never passed on.",
    manner: (run) => ({ order: asReached(run) }),
  },
  {
    id: "twice",
    name: "visiting a node twice",
    code: "def visit(v):  # no visited set\n    for child in v._children: visit(child)\n    order.append(v)",
    why: "A node that is reached on two paths stands in the order twice, and passes its gradient on each time.",
    manner: (run) => ({ order: withoutMemory(run) }),
  },
  {
    id: "stale",
    name: "stale gradients inside",
    code: "for p in parameters: p.grad = 0  # the inner nodes keep theirs",
    why: "Only the inputs were cleared. The inner nodes still hold the gradients of the last pass and send them down again. micrograd does this; retrograd clears the inner nodes by itself.",
    manner: (run) => ({ start: leftOver(run, (node) => run.graph.kinds[node] !== LEAF && node !== run.graph.root) }),
  },
];

function leftOver(run: Run, keeps: (node: number) => boolean): Float64Array {
  return Float64Array.from({ length: run.graph.count }, (_, node) => (run.graph.isVariable(node) && keeps(node) ? run.final(node) : 0));
}

/** The most visits of a pass without a visited set: its number can grow without bound. */
const MOST = 100_000;

/** The operations in the order in which a search from the root comes to them, each once. */
function asReached({ graph }: Run): number[] {
  const order = new Set<number>();
  const waiting = [graph.root];
  while (waiting.length) {
    const node = waiting.pop() ?? 0;
    if (order.has(node) || graph.kinds[node] !== OPERATION) continue;
    order.add(node);
    waiting.push(...[...graph.operandsOf(node)].reverse());
  }
  return [...order];
}

/**
 * The list that a depth-first search without a visited set makes, read from the back: each operation as often as the search
 * comes to it. From the back the last operand comes first, so that the list need not be whole to be begun.
 */
function withoutMemory({ graph }: Run): number[] {
  const order: number[] = [];
  const waiting = [graph.root];
  while (waiting.length && order.length < MOST) {
    const node = waiting.pop() ?? 0;
    if (graph.kinds[node] !== OPERATION) continue;
    order.push(node);
    waiting.push(...graph.operandsOf(node));
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

/** Whether a bug changes the gradient of an input. */
export function shows(run: Run, id: string): boolean {
  const wrong = withBug(run, id);
  return run.graph.leaves.some((leaf) => wrong.final(leaf) !== run.final(leaf));
}
