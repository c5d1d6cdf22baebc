/** Numbers in words and tables: rounded as the page is set, and exact in their tooltip. */

import type { JSX } from "preact";
import { repr, rounded } from "../model/numbers";
import type { State } from "../state/store";
import type { Writer } from "../words/sentences";

export function writer(state: State): Writer {
  return (x) => rounded(x, state.digits);
}

export function Num({ state, x, kind = "" }: { state: State; x: number; kind?: string }): JSX.Element {
  const text = rounded(x, state.digits);
  const exact = repr(x);
  return (
    <span class={`number ${kind}`} title={text === exact ? undefined : exact}>
      {text}
    </span>
  );
}
