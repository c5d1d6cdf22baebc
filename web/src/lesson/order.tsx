/** The order game as a question: place the visits of one graph after the other, and learn what a wrong order loses. */

import { Component, type JSX } from "preact";
import { inManner } from "../lab/bugs";
import { lostPaths, players, readers } from "../lab/order";
import { short } from "../model/numbers";
import type { Run } from "../model/run";
import type { Words } from "./course";
import { Still } from "./figure";
import { type AnswerProps, storeOf } from "./parts";

/** What an order does to the inputs' gradients, in words; null when nothing is lost. */
export function lost(run: Run, order: readonly number[], words: Words): string | null {
  const { names } = run.graph;
  const [first] = lostPaths(run, order);
  if (first === undefined) return null;
  const wrong = inManner(run, { order, closed: true });
  const early = run.graph.from[first.late];
  const late = [...tooLate(wrong, early)].map(([user, items]) =>
    words.say("order_late", { early: names[early], user: names[user], amount: sumOf(wrong, items) }),
  );
  const off = readers(run).filter((leaf) => Math.abs(wrong.final(leaf) - run.final(leaf)) > 1e-12);
  const gets = off.map((leaf) => words.say("order_off", { leaf: names[leaf], got: short(wrong.final(leaf)), right: short(run.final(leaf)) }));
  return [...late, ...gets].join(" ");
}

/** The contributions that came when a node had been visited, by the node that uses it; one may use it more than once. */
function tooLate(wrong: Run, early: number): Map<number, number[]> {
  const late = new Map<number, number[]>();
  for (const item of wrong.ledger(early).filter((own) => wrong.wasLost(own))) {
    const user = wrong.graph.to[wrong.additions.edge[item]];
    late.set(user, [...(late.get(user) ?? []), item]);
  }
  return late;
}

/** `3 · 1 + 3 · 1 = 6` */
function sumOf(wrong: Run, items: readonly number[]): string {
  const { edge, contribution } = wrong.additions;
  const products = items.map((item) => `${short(wrong.local[edge[item]])} · ${short(wrong.final(wrong.graph.to[edge[item]]))}`);
  return `${products.join(" + ")} = ${short(items.reduce((sum, item) => sum + contribution[item], 0))}`;
}

interface OrderState {
  readonly round: number;
  readonly order: readonly number[];
  readonly says: string;
  readonly right: boolean;
}

export class OrderAnswer extends Component<AnswerProps, OrderState> {
  private readonly runs = this.props.question.orders.map(({ payload }) => storeOf(payload).state.run);
  override state: OrderState = { round: 0, order: [], says: "", right: false };

  private get run(): Run {
    return this.runs[this.state.round];
  }

  private place(node: number, from: HTMLElement): void {
    const { order } = this.state;
    const group = from.closest(".order-answer");
    this.setState({ order: order.includes(node) ? order.filter((own) => own !== node) : [...order, node], says: "" }, () => {
      // The button that was pressed has gone to the other list: the next one to place has the focus.
      const next = group?.querySelector<HTMLElement>("[data-place]") ?? group?.querySelector<HTMLElement>(".primary");
      next?.focus();
    });
  }

  private readonly check = (): void => {
    const { question, words, onAnswer } = this.props;
    const { round, order } = this.state;
    const names = order.map((node) => this.run.graph.names[node]).join(" ");
    const says = lost(this.run, order, words);
    if (says !== null) {
      this.setState({ says });
      onAnswer([names], { right: false, says, marks: [] });
    } else if (round === this.runs.length - 1) {
      this.setState({ right: true, says: "" });
      onAnswer([names], { right: true, says: question.right, marks: [] });
    } else {
      onAnswer([], null);
      this.setState({ round: round + 1, order: [], says: words.say("order_next", { number: round + 1, count: this.runs.length }) });
    }
  };

  override render(): JSX.Element {
    const { question, words, theme } = this.props;
    const { round, order, says, right } = this.state;
    const { names } = this.run.graph;
    const left = players(this.run).filter((node) => !order.includes(node));
    const graph = question.orders[round];
    return (
      <div class="order-answer">
        <p class="round">{words.say("order_round", { number: round + 1, count: this.runs.length })}</p>
        <Still key={graph.name} payload={graph.payload} theme={theme} label={words.say("order_graph", { number: round + 1 })} />
        <h4>{words.say("order_placed")}</h4>
        <ol class="chips" aria-label={words.say("order_placed")}>
          {order.map((node, k) => (
            <li key={node}>
              <button type="button" aria-label={words.say("order_take_back", { node: names[node], number: k + 1 })} onClick={(event) => this.place(node, event.currentTarget)}>
                <small>{k + 1}</small> {names[node]}
              </button>
            </li>
          ))}
          {order.length === 0 && <li class="soft">{words.say("order_nothing")}</li>}
        </ol>
        <h4>{words.say("order_left")}</h4>
        <p class="chips">
          {left.map((node) => (
            <button key={node} type="button" data-place={node} onClick={(event) => this.place(node, event.currentTarget)}>
              {names[node]}
            </button>
          ))}
          {left.length === 0 && <span class="soft">{words.say("order_all")}</span>}
        </p>
        <p class="actions">
          <button type="button" class="primary" aria-disabled={left.length > 0 || right} onClick={() => left.length === 0 && !right && this.check()}>
            {words.say("check")}
          </button>
          <button type="button" onClick={() => this.setState({ order: [], says: "" })}>
            {words.say("start_over")}
          </button>
        </p>
        {says && left.length > 0 && (
          <p class="reading" role="status">
            {says}
          </p>
        )}
      </div>
    );
  }
}
