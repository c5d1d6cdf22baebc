/** The paths from the result down to a node. A gradient is the sum over them, each the product of its local derivatives. */

import type { Run } from "../model/run";

/** The edges from the result down to a node, and what this path alone brings: the product of their local derivatives. */
export interface Path {
  readonly edges: readonly number[];
  readonly share: number;
}

/** After so many partial paths the search for the strongest ends. */
const PATIENCE = 20_000;

/** How many paths lead from the result to a node; infinite where they are more than a float can say. */
export function countPaths(run: Run, node: number): number {
  const counts = new Float64Array(run.graph.count);
  fromAbove(run, node, counts, (above) => above);
  return counts[node];
}

/** For each node from the root down to `node` the sum, or the largest, of what comes through its uses. */
function fromAbove(run: Run, node: number, values: Float64Array, through: (above: number, edge: number) => number, largest = false): void {
  const { graph } = run;
  values[graph.root] = 1;
  for (let at = graph.root - 1; at >= node; at--) {
    for (let k = graph.firstUse[at]; k < graph.firstUse[at + 1]; k++) {
      const edge = graph.uses[k];
      if (run.zero[edge]) continue;
      const value = through(values[graph.to[edge]], edge);
      values[at] = largest ? Math.max(values[at], value) : values[at] + value;
    }
  }
}

/** The strongest paths to a node, the strongest first. */
export function strongestPaths(run: Run, node: number, most: number): Path[] {
  const { graph } = run;
  const best = new Float64Array(graph.count);
  fromAbove(run, node, best, (above, edge) => above * Math.abs(run.local[edge]), true);
  // Partial paths from the node up; `bound` is the most that any way on to the root can bring.
  let waiting = [{ at: node, edges: [] as readonly number[], share: 1, bound: best[node] }];
  const found: Path[] = [];
  for (let tries = 0; waiting.length && found.length < most && tries < PATIENCE; tries++) {
    let next = 0;
    for (let k = 1; k < waiting.length; k++) if (waiting[k].bound > waiting[next].bound) next = k;
    const { at, edges, share } = waiting[next];
    waiting[next] = waiting[waiting.length - 1];
    waiting.pop();
    if (at === graph.root) {
      found.push({ edges, share });
      continue;
    }
    for (const edge of graph.useEdges(at)) {
      const to = graph.to[edge];
      if (run.zero[edge] || !(best[to] > 0) || run.local[edge] === 0) continue;
      const product = share * run.local[edge];
      waiting.push({ at: to, edges: [edge, ...edges], share: product, bound: Math.abs(product) * best[to] });
    }
    if (waiting.length > 4000) waiting = waiting.sort((a, b) => b.bound - a.bound).slice(0, 1000);
  }
  return found;
}

/** Every path from the root to a node, up to `most` of them. */
export function allPaths(run: Run, node: number, most: number): Path[] {
  const { graph } = run;
  const found: Path[] = [];
  const walk = (at: number, edges: readonly number[], share: number): void => {
    if (found.length >= most) return;
    if (at === graph.root) {
      found.push({ edges, share });
      return;
    }
    for (const edge of graph.useEdges(at)) if (!run.zero[edge]) walk(graph.to[edge], [edge, ...edges], share * run.local[edge]);
  };
  walk(node, [], 1);
  return found;
}

/** The nodes of a path, the result first. */
export function nodesOf(run: Run, path: Path, node: number): number[] {
  return [...path.edges.map((edge) => run.graph.to[edge]), node];
}

/** `f → b → a`; where two edges join the same two nodes, with the place of the operand. */
export function pathName(run: Run, path: Path, node: number): string {
  const { graph } = run;
  return path.edges.reduce((text, edge, k) => {
    const below = graph.from[edge];
    const twins = graph.operandEdges(graph.to[edge]).filter((own) => graph.from[own] === below);
    const place = twins.length > 1 ? ` (operand ${graph.slots[edge] + 1})` : "";
    return `${text} → ${graph.names[k + 1 < path.edges.length ? below : node]}${place}`;
  }, graph.names[graph.root]);
}

/** One path down to a node by which most would come, also where nothing does. */
export function mainPath(run: Run, node: number): Path {
  const [strongest] = strongestPaths(run, node, 1);
  if (strongest !== undefined) return strongest;
  const { graph } = run;
  const edges: number[] = [];
  for (let at = node; at !== graph.root; ) {
    const edge = largestBy(graph.useEdges(at), (use) => Math.abs(run.zero[use] ? 0 : run.local[use] * run.final(graph.to[use])));
    if (edge === undefined) break;
    edges.unshift(edge);
    at = graph.to[edge];
  }
  return { edges, share: 0 };
}

function largestBy(items: readonly number[], size: (item: number) => number): number | undefined {
  let best: number | undefined;
  for (const item of items) if (best === undefined || size(item) > size(best)) best = item;
  return best;
}

/** The input with the smallest gradient. */
export function smallestInput(run: Run): number {
  let found = run.graph.leaves[0] ?? run.graph.root;
  for (const leaf of run.graph.leaves) if (Math.abs(run.final(leaf)) < Math.abs(run.final(found))) found = leaf;
  return found;
}
