/** Numbers in words and tables: rounded as the page is set, and exact in their tooltip. */

import type { JSX } from "preact";
import { repr, rounded } from "../model/numbers";
import type { State } from "../state/store";
import type { Writer } from "../words/sentences";

type Signs = Pick<State, "digits" | "printed">;

export function writer({ digits, printed }: Signs): Writer {
  return (x) => inSigns(rounded(x, digits), printed);
}

/** A text of Python's, with the signs of a printed one where the page has those. */
export function inSigns(text: string, printed: boolean): string {
  return printed ? text.replace(/-/g, "−").replace(/ [*×] /g, " · ") : text;
}

/** The sign for times between names and numbers that are no Python. */
export function timesOf({ printed }: Pick<State, "printed">): string {
  return printed ? "·" : "×";
}

export function Num({ state, x, kind = "" }: { state: State; x: number; kind?: string }): JSX.Element {
  const text = writer(state)(x);
  const exact = inSigns(repr(x), state.printed);
  return (
    <span class={`number ${kind}`} title={text === exact ? undefined : exact}>
      {text}
    </span>
  );
}
