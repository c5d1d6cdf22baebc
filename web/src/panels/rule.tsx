/** The card of a rule, written from the op table: the distributor, the swapper, the gate, … */

import type { JSX } from "preact";
import { NARY_ROWS, ROWS } from "../model/table";
import type { State } from "../state/store";
import { prettyFormula } from "../views/graphview";

export function RuleCard({ state, node }: { state: State; node: number }): JSX.Element | null {
  const { graph } = state.shown;
  const row = ROWS.get(graph.rows[node]);
  const nary = NARY_ROWS.get(graph.rows[node]);
  if (row === undefined && nary === undefined) return null;
  const doc = (row ?? nary)?.doc ?? "";
  const partials = (row ?? nary)?.partials ?? [];
  const operands = graph.operandsOf(node);
  const named = (text: string): string => (row === undefined ? text : withNames(text, operands.map((k) => graph.names[k]), graph.names[node]));
  const letters = row === undefined ? ["each operand", "each partner"] : ["a", "b", "c"].slice(0, partials.length);
  return (
    <section class="card rule" aria-label="The rule">
      <h3>{row?.card ? capital(row.card) : `The rule of ${graph.rows[node]}`}</h3>
      <p class="doc">{doc}</p>
      {row !== undefined && <p class="law">{named(`y = ${readable(row.forward)}`)}</p>}
      <ul>
        {partials.map((partial, k) =>
          row !== undefined && !graph.isVariable(operands[k]) ? null : (
            <li key={k}>
              {named(letters[k])} gets <b>{named(sentence(partial))}</b>
            </li>
          ),
        )}
      </ul>
      <p class="story">
        {STORIES[graph.rows[node]] ?? ""} G is the upstream gradient, {graph.names[node]}.grad.
      </p>
    </section>
  );
}

/** A formula of the op table with the names that its letters stand for here. */
function withNames(text: string, operands: readonly string[], result: string): string {
  return text.replace(/\b[abcy]\b(?!\()/g, (letter) => (letter === "y" ? result : (operands["abc".indexOf(letter)] ?? letter)));
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What an operand gets, of the upstream gradient G. */
function sentence(partial: string): string {
  if (partial === "1") return "G, unchanged";
  if (partial === "-1") return "−G";
  if (partial === "0") return "nothing";
  const text = readable(partial);
  return `${/ [+−] /.test(text) || text.includes("else") ? `(${text})` : text} × G`;
}

/** `select(c, x, y)` in words, and signs as people write them. */
export function readable(text: string): string {
  const inner = /^select\(([^()]*(?:\([^()]*\)[^()]*)*), ([^,()]*(?:\([^()]*\)[^,()]*)*), (.*)\)$/.exec(text);
  if (inner !== null) return `${readable(inner[2])} if ${inner[1]}, else ${readable(inner[3])}`;
  return prettyFormula(text).replace(/zero_product\(([^,]+), (.+)\)$/, "$1 × $2");
}

const STORIES: Readonly<Record<string, string>> = {
  add: "Addition hands the upstream gradient to every operand.",
  mul: "Multiplication crosses the wires: each operand gets the other's value times what comes from above.",
  relu: "Open above zero, closed below: then nothing flows back at all.",
  tanh: "Flat far from zero, so that large inputs learn slowly.",
  max: "Only the largest gets the gradient.",
};
