/** The graph: which node was computed from which. The numbers of a pass are in run.ts. */

import { formulaText } from "./derivatives";

export const LEAF = 0;
export const CONSTANT = 1;
export const OPERATION = 2;

export interface Source {
  readonly file: string;
  readonly line: number;
  readonly function: string;
  readonly text: string;
}

/** What cannot be derived from the rest of the graph. */
export interface Written {
  /** The source text of nodes, by number. */
  readonly expression?: readonly string[];
  /** The operations with a `_backward` that the user wrote. */
  readonly own?: ReadonlySet<number>;
}

export interface GraphParts {
  readonly title: string;
  readonly engine: string;
  readonly root: number;
  readonly names: readonly string[];
  readonly kinds: Uint8Array;
  /** The row of the op table, `user` for a user-made node, empty for a leaf or a constant. */
  readonly rows: readonly string[];
  readonly ops: readonly string[];
  readonly sources: readonly (Source | null)[];
  /** Edges by result and then slot. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly slots: Int32Array;
  /** Which output of a softmax a node is, where it is not the first. */
  readonly outputs?: ReadonlyMap<number, number>;
  readonly written: Written;
}

export class Graph implements GraphParts {
  readonly title: string;
  readonly engine: string;
  readonly root: number;
  readonly names: readonly string[];
  readonly kinds: Uint8Array;
  readonly rows: readonly string[];
  readonly ops: readonly string[];
  readonly sources: readonly (Source | null)[];
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly slots: Int32Array;
  readonly written: Written;
  readonly count: number;
  /** The edges of node i's operands are `first[i]` up to `first[i + 1]`. */
  readonly first: Int32Array;
  /** The edges that leave node i are `uses[firstUse[i]]` up to `uses[firstUse[i + 1]]`. */
  readonly firstUse: Int32Array;
  readonly uses: Int32Array;
  /** The operations in the order in which they were computed. */
  readonly operations: Int32Array;
  readonly leaves: readonly number[];
  readonly outputs: ReadonlyMap<number, number>;
  private byName: Map<string, number> | null = null;

  constructor(parts: GraphParts) {
    this.title = parts.title;
    this.engine = parts.engine;
    this.root = parts.root;
    this.names = parts.names;
    this.kinds = parts.kinds;
    this.rows = parts.rows;
    this.ops = parts.ops;
    this.sources = parts.sources;
    this.from = parts.from;
    this.to = parts.to;
    this.slots = parts.slots;
    this.written = parts.written;
    this.outputs = parts.outputs ?? new Map();
    this.count = parts.names.length;
    this.first = offsets(parts.to, this.count);
    this.firstUse = offsets(parts.from, this.count);
    this.uses = grouped(parts.from, this.firstUse);
    const all = Array.from({ length: this.count }, (_, node) => node);
    this.operations = Int32Array.from(all.filter((node) => parts.kinds[node] === OPERATION));
    this.leaves = all.filter((node) => parts.kinds[node] === LEAF);
  }

  operandEdges(node: number): number[] {
    return span(this.first[node], this.first[node + 1]);
  }

  operandsOf(node: number): number[] {
    return Array.from(this.from.subarray(this.first[node], this.first[node + 1]));
  }

  useEdges(node: number): number[] {
    return Array.from(this.uses.subarray(this.firstUse[node], this.firstUse[node + 1]));
  }

  isVariable(node: number): boolean {
    return this.kinds[node] !== CONSTANT;
  }

  /** Which output of a softmax a node is: 0 for anything else. */
  outputIndex(node: number): number {
    return this.outputs.get(node) ?? 0;
  }

  /** How a node was computed, in its operands' names; a constant condition of `where` as it was written. */
  formula(node: number): string {
    if (this.kinds[node] !== OPERATION) return "";
    const operands = this.operandsOf(node);
    const names = operands.map((operand) => this.names[operand]);
    if (this.rows[node] === "where" && this.kinds[operands[0]] === CONSTANT) {
      names[0] = this.written.expression?.[operands[0]] || names[0];
    }
    return formulaText(this.rows[node], this.ops[node], names, this.outputIndex(node));
  }

  find(name: string): number | undefined {
    this.byName ??= new Map(this.names.map((own, node) => [own, node]));
    return this.byName.get(name);
  }

  /** The graph can be computed again in the page: it has no node that a user made. */
  get computable(): boolean {
    return !this.rows.includes("user");
  }
}

function span(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, k) => from + k);
}

/** Where each key's items begin, were they sorted by key. */
function offsets(keys: Int32Array, count: number): Int32Array {
  const result = new Int32Array(count + 1);
  for (const key of keys) result[key + 1]++;
  for (let k = 0; k < count; k++) result[k + 1] += result[k];
  return result;
}

function grouped(keys: Int32Array, first: Int32Array): Int32Array {
  const result = new Int32Array(keys.length);
  const next = first.slice();
  keys.forEach((key, item) => {
    result[next[key]++] = item;
  });
  return result;
}
