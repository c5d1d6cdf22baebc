/** Predict, then reveal: say what each step adds, or all final gradients as on paper. Scored, and played by keyboard alone if you like. */

import { Component, createRef, type JSX } from "preact";
import { diagnosis } from "../lab/answers";
import { readNumber } from "../model/numbers";
import { additionText, edgeFormula } from "../words/sentences";
import { checkPaper, nextPrediction, reveal, startPaper, startPrediction, uncover } from "../state/games";
import type { State, Store } from "../state/store";
import { writer } from "../parts/num";

interface Props {
  readonly store: Store;
  readonly state: State;
}

export class Predict extends Component<Props> {
  private readonly form = createRef<HTMLFormElement>();

  override componentDidMount(): void {
    if (this.props.state.predict !== null) this.focus();
    else this.begin();
  }

  override componentDidUpdate(before: Props): void {
    const { state } = this.props;
    const mode = state.predict?.mode;
    if (mode === "steps" && (state.step !== before.state.step || state.hidden !== before.state.hidden)) this.focus();
    if (mode !== before.state.predict?.mode) this.focus();
    if (state.predict === null) this.begin();
  }

  private begin(): void {
    const { store, state } = this.props;
    if (state.answers === "shown") startPrediction(store);
    else startPaper(store);
  }

  private focus(): void {
    // In a frame the keyboard stays with the page around it until the reader comes here.
    if (parent !== window && !document.hasFocus()) return;
    (this.form.current?.querySelector<HTMLElement>("input") ?? this.form.current?.querySelector<HTMLElement>("button[type=submit]"))?.focus();
  }

  private readonly submit = (event: Event): void => {
    event.preventDefault();
    const { store, state } = this.props;
    const paper = state.predict?.mode === "paper";
    if (!paper && !state.hidden) return nextPrediction(store);
    const fields = [...(this.form.current?.querySelectorAll("input") ?? [])];
    const answers = fields.map((field) => readNumber(field.value));
    const odd = fields.find((field, k) => answers[k] !== answers[k] && field.value.trim() !== "");
    if (odd !== undefined) {
      store.set({ problem: { text: `“${odd.value}” is not a number.` } });
      odd.focus();
      return;
    }
    if (state.problem) store.set({ problem: null });
    if (paper) checkPaper(store, answers);
    else reveal(store, answers);
  };

  override render(): JSX.Element {
    const { store, state } = this.props;
    const { predict, shown, step } = state;
    const items = shown.additionsOf(step);
    const node = shown.nodeOf(step);
    const { graph, additions } = shown;
    const say = writer(state);
    if (predict?.mode === "paper") return <Paper store={store} state={state} form={this.form} submit={this.submit} />;
    if (predict === null || predict.done || node === null || items.length === 0) return <Finished store={store} state={state} />;
    const name = graph.names[node];
    return (
      <form class="panel predict" ref={this.form} onSubmit={this.submit} key={step}>
        <Modes store={store} state={state} />
        <Score state={state} />
        <p>
          The backward pass visits <b>{name}</b> = {graph.formula(node)}. Its gradient is <b class="number">{say(shown.gradient(node, step - 1) ?? 0)}</b>. What
          does it add?
        </p>
        {items.map((item, k) => {
          const edge = additions.edge[item];
          const answer = predict.answers[k];
          const right = !state.hidden && predict.marks[k];
          return (
            <label key={edge} class={state.hidden ? "" : right ? "right" : "wrong"}>
              <span>
                {graph.names[graph.from[edge]]}.grad +=
                {items.filter((own) => graph.from[additions.edge[own]] === graph.from[edge]).length > 1 && <small> as operand {graph.slots[edge] + 1}</small>}
              </span>
              {state.hidden ? (
                <input type="text" inputMode="decimal" autocomplete="off" aria-label={`What is added to ${graph.names[graph.from[edge]]}.grad`} />
              ) : (
                <output>
                  {answer === answer ? say(answer) : "–"} {right ? "✓ right" : `✗ it is ${say(additions.contribution[item])}`}
                </output>
              )}
            </label>
          );
        })}
        {!state.hidden && items.map((item) => (
          <p class="sum back" key={item}>
            {additionText(shown, item, "+=", say)}
          </p>
        ))}
        {state.hidden && <p class="hint">Local derivatives: {items.map((item) => localHint(state, additions.edge[item])).join(", ")}.</p>}
        <p class="actions">
          <button type="submit" class="primary">
            {state.hidden ? "Reveal" : "Next"} <kbd>Enter</kbd>
          </button>
        </p>
      </form>
    );
  }
}

function localHint(state: State, edge: number): string {
  const { graph } = state.shown;
  return `∂${graph.names[graph.to[edge]]}/∂${graph.names[graph.from[edge]]} = ${edgeFormula(state.shown, edge)}`;
}

function Score({ state }: { state: State }): JSX.Element {
  const { right, asked } = state.predict ?? { right: 0, asked: 0 };
  return (
    <p class="score" aria-live="polite">
      {asked === 0 ? "Predict, then reveal." : `${right} of ${asked} right`}
    </p>
  );
}

/** One step after the other, or everything at once. */
function Modes({ store, state }: Props): JSX.Element | null {
  if (state.run.graph.leaves.length > MOST || state.answers === "locked") return null;
  const paper = state.predict?.mode === "paper";
  return (
    <div class="modes" role="group" aria-label="What to predict">
      <button type="button" aria-pressed={!paper} onClick={() => startPrediction(store)}>
        Step by step
      </button>
      <button type="button" aria-pressed={paper} onClick={() => startPaper(store)}>
        The final gradients
      </button>
    </div>
  );
}

/** Of more inputs than this nobody works out the gradients on paper. */
const MOST = 24;

interface PaperProps extends Props {
  readonly form: { current: HTMLFormElement | null };
  readonly submit: (event: Event) => void;
}

/** All gradients of the inputs, worked out on paper. */
function Paper({ store, state, form, submit }: PaperProps): JSX.Element {
  const { run, predict, answers: shownAnswers } = state;
  const { graph } = run;
  const { answers, marks, done, asked, right } = predict ?? { answers: [], marks: [], done: false, asked: 0, right: 0 };
  const root = graph.names[graph.root];
  if (graph.leaves.length > MOST) return <p class="hint">This graph has {graph.leaves.length} inputs. Choose one of the examples.</p>;
  return (
    <form class="panel predict" ref={form} onSubmit={submit}>
      <Modes store={store} state={state} />
      <p>
        Draw it on paper, walk back from {root}.grad = 1, and write down how much {root} changes with each input. All gradients are covered until you are right.
      </p>
      {graph.leaves.map((leaf, k) => {
        const tried = asked > 0 && answers[k] === answers[k];
        const verdict = !tried ? "" : marks[k] ? "right" : "wrong";
        return (
          <div key={leaf} class="answer">
            <label class={verdict}>
              <span>{graph.names[leaf]}.grad =</span>
              <input type="text" inputMode="decimal" autocomplete="off" aria-label={`${graph.names[leaf]}.grad`} aria-invalid={verdict === "wrong"} readOnly={done} />
              <output>{verdict === "right" ? "✓" : verdict === "wrong" ? "✗" : ""}</output>
            </label>
            {verdict === "wrong" && <p class="hint diagnosis">{diagnosis(run, leaf, answers[k])}</p>}
          </div>
        );
      })}
      <p class="score" aria-live="polite">
        {done ? `✓ All ${marks.length} are right. The gradients are uncovered: walk through them.` : asked > 0 ? `${right} of ${asked} right` : ""}
      </p>
      <p class="actions">
        {!done && (
          <button type="submit" class="primary">
            Check <kbd>Enter</kbd>
          </button>
        )}
        {!done && shownAnswers !== "locked" && (
          <button
            type="button"
            onClick={() => {
              uncover(store);
              store.setTab("step");
            }}
          >
            Show the gradients
          </button>
        )}
        {done && (
          <button type="button" class="primary" onClick={() => store.setTab("step")}>
            Walk through it
          </button>
        )}
      </p>
    </form>
  );
}

function Finished({ store, state }: Props): JSX.Element {
  return (
    <div class="panel predict">
      <Modes store={store} state={state} />
      <Score state={state} />
      <p>{state.predict?.done && state.predict.asked ? "That was the whole backward pass." : "This step adds nothing, so that there is nothing to predict."}</p>
      <p class="actions">
        <button type="button" class="primary" onClick={() => startPrediction(store)}>
          From the start
        </button>
      </p>
    </div>
  );
}
