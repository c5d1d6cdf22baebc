/** The order of the backward pass: who takes part, what a wrong order loses, and the depth-first search that finds a right one. */

import { type Graph, LEAF } from "../model/graph";
import type { Run } from "../model/run";
import { allPaths, type Path } from "./paths";

/** The nodes that have a gradient, operands before results. */
export function players(run: Run): number[] {
  const { graph } = run;
  const below = new Set([graph.root]);
  for (const node of [...graph.operations].reverse()) {
    if (below.has(node)) for (const operand of graph.operandsOf(node)) below.add(operand);
  }
  return Array.from({ length: graph.count }, (_, node) => node).filter((node) => below.has(node) && graph.isVariable(node));
}

/** The inputs among them. */
export function readers(run: Run): number[] {
  return players(run).filter((node) => run.graph.kinds[node] === LEAF);
}

// --- what a wrong order loses -----------------------------------------------------------------------

/** A path whose share never arrived, since along its edge `late` the operand had been visited before. */
export interface Lost {
  readonly leaf: number;
  readonly path: Path;
  readonly late: number;
}

/** More paths than this are not followed one by one. */
export const MOST_PATHS = 500;

/**
 * The paths that an order loses, the largest share first.
 *
 * A visited node takes nothing more, so that what an input got and the shares of its lost paths add up to the right gradient.
 */
export function lostPaths(run: Run, order: readonly number[]): Lost[] {
  const { graph } = run;
  const position = new Map(order.map((node, k) => [node, k]));
  const isLate = (edge: number): boolean => (position.get(graph.from[edge]) ?? 0) < (position.get(graph.to[edge]) ?? 0);
  return readers(run)
    .flatMap((leaf) =>
      allPaths(run, leaf, MOST_PATHS).flatMap((path): Lost[] => {
        const late = path.edges.find(isLate);
        return late === undefined || path.share === 0 ? [] : [{ leaf, path, late }];
      }),
    )
    .sort((a, b) => Math.abs(b.path.share) - Math.abs(a.path.share));
}

/** Whether every node is visited after all that use it. */
export function isTopological(run: Run, order: readonly number[]): boolean {
  const { graph } = run;
  const position = new Map(order.map((node, k) => [node, k]));
  return players(run).every((node) => graph.useEdges(node).every((edge) => (position.get(graph.to[edge]) ?? -1) < (position.get(node) ?? 0)));
}

// --- the depth-first search -------------------------------------------------------------------------

/** One move of the search. */
export interface Move {
  /** It comes to a new node, comes to one again, or has done with one. */
  readonly kind: "enter" | "again" | "append";
  readonly node: number;
  /** The nodes whose operands it is among, the root first. */
  readonly stack: readonly number[];
}

const searches = new WeakMap<Graph, readonly Move[]>();

/** The moves of `build_topo` from the root. */
export function searchMoves({ graph }: Run): readonly Move[] {
  const known = searches.get(graph);
  if (known !== undefined) return known;
  const moves: Move[] = [];
  searches.set(graph, moves);
  const visited = new Set<number>();
  const visit = (node: number, stack: readonly number[]): void => {
    if (visited.has(node)) {
      moves.push({ kind: "again", node, stack });
      return;
    }
    visited.add(node);
    moves.push({ kind: "enter", node, stack });
    for (const operand of graph.operandsOf(node)) if (graph.isVariable(operand)) visit(operand, [...stack, node]);
    moves.push({ kind: "append", node, stack });
  };
  visit(graph.root, []);
  return moves;
}

/** What the search has found after so many moves. */
export function searched(moves: readonly Move[], count: number): { visited: number[]; order: number[] } {
  const made = moves.slice(0, count);
  return {
    visited: made.filter(({ kind }) => kind === "enter").map(({ node }) => node),
    order: made.filter(({ kind }) => kind === "append").map(({ node }) => node),
  };
}
