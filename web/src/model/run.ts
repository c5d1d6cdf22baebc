/** A run: the numbers of one forward and one backward pass over a graph, and the order in which they came. */

import type { Graph } from "./graph";

/** Every `+=` of a backward pass, one column a member, in the order in which they were made. */
export interface Additions {
  readonly edge: Int32Array;
  readonly before: Float64Array;
  readonly contribution: Float64Array;
  readonly after: Float64Array;
  /** The backward step of each. */
  readonly step: Int32Array;
}

export class Run {
  /** The additions into node i are `into[firstInto[i]]` up to `into[firstInto[i + 1]]`. */
  private readonly firstInto: Int32Array;
  private readonly into: Int32Array;
  /** The additions of backward step s are `firstOf[s]` up to `firstOf[s + 1]`. */
  private readonly firstOf: Int32Array;
  /** The backward step in which a node is visited for the first time; -1 when it never is. */
  private readonly visitedAt: Int32Array;
  private readonly computedAt: Int32Array;

  constructor(
    readonly graph: Graph,
    readonly data: Float64Array,
    /** The local derivative of each edge; NaN for a constant's. */
    readonly local: Float64Array,
    /** 1 where nothing is added, not even 0 * inf. */
    readonly zero: Uint8Array,
    /** The nodes visited, the first one after the seed. */
    readonly order: Int32Array,
    readonly additions: Additions,
    /** Whether these are Python's own numbers. */
    readonly python: boolean,
    /** The gradients at the start of the pass: all zero, unless someone forgot to clear them. */
    readonly start: Float64Array | null = null,
  ) {
    const targets = additions.edge.map((edge) => graph.from[edge]);
    this.firstInto = counts(targets, graph.count);
    const next = this.firstInto.slice();
    this.into = new Int32Array(targets.length);
    targets.forEach((target, item) => {
      this.into[next[target]++] = item;
    });
    this.firstOf = counts(additions.step, order.length + 1);
    this.visitedAt = new Int32Array(graph.count).fill(-1);
    for (let k = order.length - 1; k >= 0; k--) this.visitedAt[order[k]] = k + 1;
    this.computedAt = new Int32Array(graph.count);
    graph.operations.forEach((node, k) => {
      this.computedAt[node] = k + 1;
    });
  }

  /** The steps of the forward pass: the inputs, then one for each operation. */
  get forwardCount(): number {
    return this.graph.operations.length + 1;
  }

  /** All steps: those of the forward pass, the seed, and the visits. */
  get stepCount(): number {
    return this.forwardCount + 1 + this.order.length;
  }

  /** Whether a node has its number after step `step`. */
  hasData(node: number, step: number): boolean {
    return this.computedAt[node] <= step;
  }

  /** The step in which a node got its number. */
  dataStep(node: number): number {
    return this.computedAt[node];
  }

  /** The step in which a node is visited backward; -1 when it never is. */
  visitStep(node: number): number {
    return this.visitedAt[node] < 0 ? -1 : this.forwardCount + this.visitedAt[node];
  }

  isBackward(step: number): boolean {
    return step >= this.forwardCount;
  }

  /** The gradient of a node after step `step`; null before the backward pass. */
  gradient(node: number, step: number): number | null {
    const backward = step - this.forwardCount;
    if (backward < 0) return null;
    let grad = this.seeded(node);
    for (let k = this.firstInto[node]; k < this.firstInto[node + 1]; k++) {
      const item = this.into[k];
      if (this.additions.step[item] > backward) break;
      grad = this.additions.after[item];
    }
    return grad;
  }

  /** What a node's gradient is before anything is added to it. */
  seeded(node: number): number {
    return node === this.graph.root ? 1 : (this.start?.[node] ?? 0);
  }

  /** The gradient after the whole pass. */
  final(node: number): number {
    return this.gradient(node, this.stepCount) ?? 0;
  }

  /** The additions into a node, as positions in the columns, in the order in which they were made. */
  ledger(node: number): number[] {
    return Array.from(this.into.subarray(this.firstInto[node], this.firstInto[node + 1]));
  }

  /** The additions that a step makes. */
  additionsOf(step: number): number[] {
    const backward = step - this.forwardCount;
    if (backward < 0) return [];
    const [from, to] = [this.firstOf[backward], this.firstOf[backward + 1]];
    return Array.from({ length: to - from }, (_, k) => from + k);
  }

  /** Whether an addition came after its target had been visited, and was lost. */
  wasLost(item: number): boolean {
    const { edge, before, after, contribution, step } = this.additions;
    const visit = this.visitedAt[this.graph.from[edge[item]]];
    return contribution[item] !== 0 && before[item] === after[item] && visit >= 0 && visit < step[item];
  }

  /** The step of the whole run in which an addition is made. */
  additionStep(item: number): number {
    return this.forwardCount + this.additions.step[item];
  }

  /** The node that a step is about; null for the step of the inputs. */
  nodeOf(step: number): number | null {
    if (step === 0) return null;
    if (step < this.forwardCount) return this.graph.operations[step - 1];
    if (step === this.forwardCount) return this.graph.root;
    return this.order[step - this.forwardCount - 1];
  }
}

function counts(keys: Int32Array, count: number): Int32Array {
  const result = new Int32Array(count + 1);
  for (const key of keys) result[key + 1]++;
  for (let k = 0; k < count; k++) result[k + 1] += result[k];
  return result;
}
