/** Links to what is shown, a frame for another page, and an assignment: the options of state/link.ts, as buttons. */

import { Component, type JSX } from "preact";
import { LEAF } from "../model/graph";
import { linkText, optionsOf, programText } from "../state/link";
import type { State, Store } from "../state/store";
import { CopyButton } from "../parts/copy";
import { Dialog } from "./dialog";

interface Props {
  readonly store: Store;
  readonly state: State;
}

interface Choice {
  readonly start: boolean;
  readonly answers: "shown" | "hidden" | "locked";
  readonly all: boolean;
}

export class Share extends Component<Props, Choice> {
  override state: Choice = { start: false, answers: "shown", all: true };

  override render(): JSX.Element {
    const { store, state } = this.props;
    const choice = this.state;
    const options = chosen(state, choice);
    const address = `${location.href.replace(/#.*/, "")}#${linkText(options)}`;
    const frame = `<iframe src="${`${address}&figure=1`.replace(/&/g, "&amp;")}" title="retrograd" width="100%" height="520" style="border:1px solid #8884;border-radius:8px"></iframe>`;
    const pick = (change: Partial<Choice>): void => this.setState(change);
    return (
      <Dialog store={store} title="Share">
        <p>
          A link holds the expression, its numbers, the step and the view. It opens this page, so that whoever gets it needs the page too
          {location.protocol === "file:" ? ": this one is a file on your computer, which you can send along." : "."}
        </p>
        <fieldset class="choices">
          <legend>Begin</legend>
          <Radio name="start" on={!choice.start} pick={() => pick({ start: false })}>at this step</Radio>
          <Radio name="start" on={choice.start} pick={() => pick({ start: true })}>at the first step</Radio>
        </fieldset>
        <fieldset class="choices">
          <legend>Gradients</legend>
          <Radio name="answers" on={choice.answers === "shown"} pick={() => pick({ answers: "shown" })}>shown</Radio>
          <Radio name="answers" on={choice.answers === "hidden"} pick={() => pick({ answers: "hidden", start: true })}>hidden until asked for</Radio>
          <Radio name="answers" on={choice.answers === "locked"} pick={() => pick({ answers: "locked", start: true })}>hidden until worked out</Radio>
        </fieldset>
        <fieldset class="choices">
          <legend>Views</legend>
          <Radio name="all" on={choice.all} pick={() => pick({ all: true })}>all</Radio>
          <Radio name="all" on={!choice.all} pick={() => pick({ all: false })}>this one alone</Radio>
        </fieldset>
        <pre class="latex" tabIndex={0}>{address}</pre>
        <p class="actions">
          <CopyButton text={address}>{choice.answers === "shown" ? "Copy the link" : "Copy the assignment"}</CopyButton>
          <CopyButton text={frame}>Copy a frame for another page</CopyButton>
        </p>
      </Dialog>
    );
  }
}

function chosen(state: State, { start, answers, all }: Choice): Record<string, string> {
  // A graph that the page can write as a program needs no file of its own.
  const typed = state.program !== null || state.run.graph.leaves.every((leaf) => state.run.graph.kinds[leaf] === LEAF && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(state.run.graph.names[leaf]));
  const options = optionsOf(state, state.program === null || !typed);
  if (state.program !== null) options.program = programText(state);
  delete options.theme;
  delete options.answers;
  if (start) options.step = "1";
  if (answers !== "shown") {
    options.answers = answers;
    options.view = "predict";
  }
  if (!all) options.views = answers === "shown" ? state.tab : "step,predict";
  return options;
}

function Radio({ name, on, pick, children }: { name: string; on: boolean; pick: () => void; children: string }): JSX.Element {
  return (
    <label>
      <input type="radio" name={`share-${name}`} checked={on} onChange={pick} /> {children}
    </label>
  );
}
