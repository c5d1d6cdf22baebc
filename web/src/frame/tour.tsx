/** A tour for who wants it: one sentence a control, beside the control. */

import { Component, createRef, type JSX } from "preact";
import type { State, Store } from "../state/store";

const STOPS: readonly (readonly [string, string])[] = [
  ['[aria-label="Step forward"]', "One step at a time: first every value, then, from the result back, every gradient. The arrow keys do the same."],
  [".said", "Each step in one sentence, with its numbers."],
  [".canvas", "Every number is a box. Values come in from the left; gradients go back along the same wires. Click a box or a wire to ask about it."],
  [".expression", "Type any expression, such as a = 2; a * a, and press Enter."],
  [".tabs", "Other views of the same step. The ledger shows every += of every gradient; More has games, the slope and a lab of bugs."],
  ['[aria-label="Step"]', "Drag to any step. Steps go back, too: every number is what it was then."],
];

interface Props {
  readonly store: Store;
  readonly state: State;
}

export class Tour extends Component<Props> {
  private readonly card = createRef<HTMLDivElement>();

  override componentDidMount(): void {
    this.place();
  }

  override componentDidUpdate(): void {
    this.place();
  }

  /** Beside what it speaks of, inside the page. */
  private place(): void {
    const card = this.card.current;
    const page = card?.closest<HTMLElement>(".explorer");
    if (!card || !page) return;
    const target = page.querySelector<HTMLElement>(STOPS[this.props.state.tour ?? 0][0]);
    target?.scrollIntoView({ block: "nearest" });
    const [frame, at, own] = [page, target ?? page, card].map((element) => element.getBoundingClientRect());
    const below = at.bottom + 10 + own.height < frame.bottom;
    const above = at.top - 10 - own.height > frame.top;
    const top = below ? at.bottom + 10 : above ? at.top - 10 - own.height : at.top + 16;
    card.style.top = `${top - frame.top}px`;
    card.style.left = `${Math.max(8, Math.min(frame.width - own.width - 8, at.left - frame.left))}px`;
    card.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
  }

  override render(): JSX.Element {
    const { store, state } = this.props;
    const at = state.tour ?? 0;
    const last = at === STOPS.length - 1;
    return (
      <div class="tour" ref={this.card} role="dialog" aria-label={`Tour, ${at + 1} of ${STOPS.length}`}>
        <p>{STOPS[at][1]}</p>
        <p class="actions">
          <button type="button" class="primary" onClick={() => store.set({ tour: last ? null : at + 1 })}>
            {last ? "Done" : "Next"}
          </button>
          {!last && (
            <button type="button" onClick={() => store.set({ tour: null })}>
              Enough
            </button>
          )}
          <span class="hint">
            {at + 1} of {STOPS.length}
          </span>
        </p>
      </div>
    );
  }
}
