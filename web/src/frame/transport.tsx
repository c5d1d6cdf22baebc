/** Under the graph: the sentence of the step, and the buttons that move the cursor. */

import type { JSX } from "preact";
import { stepText } from "../words/sentences";
import { addsUnseen } from "../state/state";
import type { State, Store } from "../state/store";
import { Icon } from "../parts/icon";
import { inSigns, writer } from "../parts/num";

interface Props {
  readonly store: Store;
  readonly state: State;
}

const SPEEDS = [0.5, 1, 2, 4, 8];

export function Transport({ store, state }: Props): JSX.Element {
  const { shown, step, playing } = state;
  const last = shown.stepCount - 1;
  const split = ((shown.forwardCount - 0.5) / Math.max(1, last)) * 100;
  return (
    <div class="transport" role="group" aria-label="Steps">
      <Sentence state={state} />
      <div class="track">
        <div class="phases" aria-hidden="true">
          <span style={{ width: `${split}%` }}>forward: values →</span>
          <span style={{ width: `${100 - split}%` }}>← backward: gradients</span>
        </div>
        <input
          type="range"
          min={0}
          max={last}
          value={step}
          aria-label="Step"
          aria-valuetext={`step ${step + 1} of ${last + 1}, ${phaseName(state)}`}
          style={{ "--split": `${split}%`, "--at": `${(step / Math.max(1, last)) * 100}%` }}
          onInput={(event) => store.goTo(Number(event.currentTarget.value))}
        />
      </div>
      <div class="buttons">
        <button type="button" onClick={() => store.goTo(0)} aria-disabled={step === 0} aria-label="To the start" title="To the start (Home)">
          <Icon d="M4 3v10M13 3L6 8l7 5z" />
        </button>
        <button type="button" onClick={() => store.back()} aria-disabled={step === 0} aria-label="Step back" title="Step back (←)">
          <Icon d="M11 3L4 8l7 5z" />
        </button>
        <button type="button" class="primary" onClick={() => store.play()} aria-label={playing ? "Pause" : "Play"} title="Play or pause (Space)">
          {playing ? <Icon d="M4 3h3v10H4zM9 3h3v10H9z" /> : <Icon d="M4 2.5L13 8l-9 5.5z" />}
        </button>
        <button type="button" class={state.hint ? "begin" : ""} onClick={() => store.forward()} aria-disabled={step === last} aria-label="Step forward" title="Step forward (→)">
          <Icon d="M5 3l7 5-7 5z" />
        </button>
        <button type="button" onClick={() => store.nextPhase()} aria-disabled={step === last} aria-label="Next phase" title="Next phase (Shift →)">
          <Icon d="M12 3v10M3 3l7 5-7 5z" />
        </button>
        <span class="count">
          <b>{step + 1}</b> of {last + 1}<span class="what"> · {phaseName(state)}</span>
        </span>
        <span class="space" />
        <button type="button" onClick={() => store.undo()} aria-disabled={!store.canUndo} aria-label="Undo" title="Undo (Ctrl Z)">
          <Icon d="M6 3L2.5 6.5 6 10M3 6.5h6.5a3.5 3.5 0 010 7H7" line />
        </button>
        <button type="button" onClick={() => store.redo()} aria-disabled={!store.canRedo} aria-label="Redo" title="Redo (Ctrl Y)">
          <Icon d="M10 3l3.5 3.5L10 10M13 6.5H6.5a3.5 3.5 0 000 7H9" line />
        </button>
        <label class="speed">
          <span>speed</span>
          <select aria-label="speed" value={state.speed} onChange={(event) => store.set({ speed: Number(event.currentTarget.value) })}>
            {SPEEDS.map((speed) => (
              <option key={speed} value={speed}>
                {speed}×
              </option>
            ))}
          </select>
        </label>
      </div>
    </div>
  );
}

export function phaseName(state: State): string {
  const { shown, step } = state;
  if (step === 0) return "inputs";
  if (step < shown.forwardCount) return "forward";
  return step === shown.forwardCount ? "seed" : "backward";
}

/** So many operands of one operation are named in a sentence. */
const MOST = 6;

/** The step's sentence; where numbers are short, so is an operation over many operands. */
function sentenceOf(state: State): string {
  const text = inSigns(stepText(state.shown, state.step, writer(state)), state.printed);
  if (state.digits === 0) return text;
  return text.replace(/(?<=[([])[^()[\]]+(?=[)\]])/g, (inside) => {
    const parts = inside.split(", ");
    return parts.length > MOST ? `${parts.slice(0, MOST / 2).join(", ")}, … ${parts.length - MOST / 2 - 1} more …, ${parts.at(-1)}` : inside;
  });
}

/** The step in words, which a screen reader reads out at each change. */
function Sentence({ state }: { state: State }): JSX.Element {
  const { shown, step } = state;
  const unseen = step > shown.forwardCount && addsUnseen(state, step);
  const node = shown.nodeOf(step);
  const ask = state.hidden ? "Predict it, then reveal it." : "Work it out: the gradients are covered.";
  const text = unseen ? `${node === null ? "What" : `${shown.graph.names[node]} = ${inSigns(shown.graph.formula(node), state.printed)}: what`} does this step add? ${ask}` : sentenceOf(state);
  return (
    <p class="sentence" aria-live={state.playing && state.speed > 2 ? "off" : "polite"} aria-atomic="true">
      <span class={`phase ${phaseName(state)}`}>{phaseName(state)}</span> <span class="said">{text}</span>
      {state.hint && step === 0 && state.tab === "step" && <span class="begin-here">Begin here: press → or Step forward, and watch the first value come.</span>}
    </p>
  );
}
