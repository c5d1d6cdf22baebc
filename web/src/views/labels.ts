/** What a screen reader says of a box or a wire, and what a tooltip shows. */

import type { Group } from "../model/fold";
import { LEAF, OPERATION } from "../model/graph";
import { repr, short } from "../model/numbers";
import type { Wire } from "../layout/scene";
import { allCovered, isCovered } from "../state/state";
import type { State } from "../state/store";

export function nodeLabel(state: State, node: number): string {
  const { shown, step } = state;
  const { graph } = shown;
  const name = graph.names[node];
  if (!graph.isVariable(node)) return `constant ${repr(shown.data[node])}`;
  const what = graph.kinds[node] === LEAF ? `input ${name}` : `${name} = ${graph.formula(node)}`;
  const data = shown.hasData(node, step) ? `data ${repr(shown.data[node])}` : "not computed yet";
  const grad = shown.gradient(node, step);
  return `${what}, ${data}${grad === null || isCovered(state, node) ? "" : `, gradient ${repr(grad)}`}`;
}

export function wireLabel(state: State, wire: Wire): string {
  const { shown } = state;
  const { graph } = shown;
  const edge = wire.edges[0];
  const [from, to] = [graph.names[graph.from[edge]], graph.names[graph.to[edge]]];
  if (wire.edges.length > 1) return `${wire.edges.length} uses`;
  if (!graph.isVariable(graph.from[edge])) return `${from}, operand ${graph.slots[edge] + 1} of ${to}: a constant, which has no gradient`;
  if (shown.graph.rows[graph.to[edge]] === "") return `${from} to ${to}`;
  return `${from}, operand ${graph.slots[edge] + 1} of ${to}: local derivative ${short(shown.local[edge])}`;
}

/** The range of the gradients in a closed group, as far as they are known. */
export function groupRange(state: State, group: Group): string {
  const { shown, step } = state;
  let [least, most] = [Infinity, 0];
  const visit = (inner: Group): void => {
    for (const node of inner.nodes) {
      if (shown.graph.kinds[node] !== OPERATION) continue;
      const size = Math.abs(shown.gradient(node, step) ?? 0);
      if (size > 0) [least, most] = [Math.min(least, size), Math.max(most, size)];
    }
    for (const child of inner.groups) visit(child);
  };
  if (shown.isBackward(step) && group.size <= 5000 && !allCovered(state)) visit(group);
  return most > 0 ? `grads ${short(least, 2)} … ${short(most, 2)}` : "click to unfold";
}
