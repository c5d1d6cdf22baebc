/** What went wrong last, under the field in which it was typed, with a caret where it stands. */

import type { JSX } from "preact";
import type { State, Store } from "../state/store";

export function ProblemNote({ store, state }: { store: Store; state: State }): JSX.Element | null {
  const { problem } = state;
  if (problem === null) return null;
  const { text, typed, at } = problem;
  return (
    <div class="problem" id="problem" role="alert">
      {typed !== undefined && at !== undefined && typed !== "" && (
        <pre>
          {typed.replace(/\n/g, " ")}
          {"\n"}
          <b>{" ".repeat(at[0]) + "^".repeat(Math.max(1, at[1] - at[0]))}</b>
        </pre>
      )}
      <p>{text}</p>
      <button type="button" aria-label="Dismiss" onClick={() => store.set({ problem: null })}>
        ✕
      </button>
    </div>
  );
}
