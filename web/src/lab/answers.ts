/** Answers to "what is this gradient?": whether one is right, and what a wrong one would mean. */

import { repr, short } from "../model/numbers";
import type { Run } from "../model/run";
import { withBug } from "./bugs";
import { allPaths, pathName } from "./paths";

/** Within a hundredth: whoever computes on paper may round. */
export function sameNumber(answer: number, truth: number): boolean {
  return answer === truth || Math.abs(answer - truth) <= 0.01 * Math.abs(truth) + 1e-9;
}

const MOST_PATHS = 100;

/** What a wrong answer for the gradient of a node would mean: the mistake that leads to it. */
export function diagnosis(run: Run, node: number, answer: number): string {
  const { graph, additions } = run;
  const truth = run.final(node);
  const items = run.ledger(node);
  const paths = allPaths(run, node, MOST_PATHS);
  const name = graph.names[node];
  const many = paths.length > 1;
  if (truth !== 0 && sameNumber(answer, -truth)) return "The size is right, the sign is not. Look for a minus among the local derivatives on the way.";
  if (many && sameNumber(answer, withBug(run, "assign").final(node))) {
    return `That is what = in place of += gives: the last share alone. ${paths.length} paths lead here, and their shares add up.`;
  }
  const one = many ? paths.find(({ share }) => sameNumber(answer, share)) : undefined;
  if (one !== undefined) return `That is the share of one path, ${pathName(run, one, node)}. ${paths.length} paths lead here: add their shares.`;
  if (many && sameNumber(answer, paths.reduce((product, { share }) => product * share, 1))) return "Shares of several paths are added, not multiplied.";
  const local = items.find((item) => sameNumber(answer, run.local[additions.edge[item]]));
  if (local !== undefined) {
    const user = graph.to[additions.edge[local]];
    return `That is the local derivative alone. Multiply it by the upstream gradient, ${graph.names[user]}.grad = ${repr(run.final(user))}.`;
  }
  if (sameNumber(answer, run.data[node])) return `That is ${name}'s data. Its gradient says how much ${graph.names[graph.root]} changes when ${name} grows by a little.`;
  if (answer === 0) return `Zero would mean that ${name} has no influence on ${graph.names[graph.root]}.`;
  const [item] = items;
  if (item === undefined) return "Nothing flows back to it.";
  const user = graph.names[graph.to[additions.edge[item]]];
  return `Begin at ${graph.names[graph.root]}.grad = 1 and walk back: ${name} is used in ${user}, and gets local derivative × ${user}.grad there${items.length > 1 ? `, and ${items.length - 1 === 1 ? "one more share" : `${items.length - 1} more shares`} elsewhere` : ""}. ${short(answer)} is not that.`;
}
