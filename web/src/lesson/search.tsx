/** The depth-first search that finds the order, one line of its code at a time, with its visited set. */

import { Component, type JSX } from "preact";
import type { Graph } from "../model/graph";
import type { PanelProps } from "./parts";

const CODE = [
  "def visit(v):",
  "    if v in visited: return",
  "    visited.add(v)",
  "    for child in v._children: visit(child)",
  "    order.append(v)",
];

/** A line of the code that runs now, and what is known after it. */
interface Moment {
  readonly line: number;
  readonly node: number;
  readonly stack: readonly number[];
  readonly visited: readonly number[];
  readonly order: readonly number[];
}

/** Every moment of the search from the root; constants are left out, since they have no gradient. */
export function search(graph: Graph): Moment[] {
  const moments: Moment[] = [];
  const stack: number[] = [];
  const visited: number[] = [];
  const order: number[] = [];
  const note = (line: number, node: number): void => {
    moments.push({ line, node, stack: [...stack], visited: [...visited], order: [...order] });
  };
  const visit = (node: number): void => {
    stack.push(node);
    if (visited.includes(node)) {
      note(1, node);
    } else {
      visited.push(node);
      note(2, node);
      for (const child of graph.operandsOf(node)) if (graph.isVariable(child)) visit(child);
      order.push(node);
      note(4, node);
    }
    stack.pop();
  };
  visit(graph.root);
  return moments;
}

export class Search extends Component<PanelProps, { readonly at: number }> {
  override state = { at: -1 };

  private to(at: number): void {
    const moments = search(this.props.state.run.graph);
    const next = Math.max(-1, Math.min(moments.length - 1, at));
    this.setState({ at: next });
    this.props.store.select(next < 0 ? null : { kind: "node", id: moments[next].node });
  }

  override render(): JSX.Element {
    const { state, words } = this.props;
    const { graph } = state.run;
    const moments = search(graph);
    const now = moments[this.state.at];
    const named = (nodes: readonly number[] | undefined): string => (nodes?.length ? nodes.map((node) => graph.names[node]).join(", ") : "–");
    const name = now === undefined ? "" : graph.names[now.node];
    const said = now === undefined ? words.say("search_before") : words.say(["", "search_again", "search_enter", "", "search_append"][now.line], { node: name });
    return (
      <div class="search-view">
        <pre class="code" tabIndex={0} aria-label={words.say("search_code")}>
          {CODE.map((line, k) => (
            <code key={k} class={now?.line === k ? "line now" : "line"}>{`${line}\n`}</code>
          ))}
        </pre>
        <p class="reading" role="status">
          {said}
        </p>
        <dl>
          <dt>{words.say("search_stack")}</dt>
          <dd class="number">{now === undefined ? "–" : now.stack.map((node) => graph.names[node]).join(" → ")}</dd>
          <dt>visited</dt>
          <dd class="number">{`{${now === undefined ? "" : named(now.visited)}}`}</dd>
          <dt>order</dt>
          <dd class="number" data-order="">{`[${now?.order.length ? named(now.order) : ""}]`}</dd>
        </dl>
        <p class="actions">
          <button type="button" aria-disabled={this.state.at < 0} onClick={() => this.to(this.state.at - 1)}>
            {words.say("search_back")}
          </button>
          <button type="button" class="primary" aria-disabled={this.state.at >= moments.length - 1} onClick={() => this.to(this.state.at + 1)}>
            {words.say("search_next")}
          </button>
          <button type="button" onClick={() => this.to(-1)}>
            {words.say("start_over")}
          </button>
        </p>
      </div>
    );
  }
}
