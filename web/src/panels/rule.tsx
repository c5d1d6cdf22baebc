/** The card of a rule, as a textbook has it: the distributor, the swapper, the gate, … */

import type { JSX } from "preact";
import { law, type Names, sequenceShare, share } from "../model/cards";
import { CONSTANT } from "../model/graph";
import { short } from "../model/numbers";
import { NARY_ROWS, ROWS } from "../model/table";
import { inSigns } from "../parts/num";
import type { State } from "../state/store";

export function RuleCard({ state, node }: { state: State; node: number }): JSX.Element | null {
  const { graph } = state.shown;
  const row = graph.rows[node];
  const fixed = ROWS.get(row);
  const doc = (fixed ?? NARY_ROWS.get(row))?.doc;
  if (doc === undefined) return null;
  const names = namesAt(state, node);
  const backward = state.shown.isBackward(state.step);
  return (
    <section class="card rule" role="group" aria-label="The rule">
      <h2>{fixed?.card ? capital(fixed.card) : `The rule of ${row}`}</h2>
      <p class="doc">{fixed === undefined ? doc : described(doc, names)}</p>
      {fixed !== undefined && <p class="law">{inSigns(law(row, names), state.printed)}</p>}
      {!backward && <p class="story">How a gradient flows through it is shown in the backward pass.</p>}
      {backward && fixed !== undefined && (
        <ul>
          {graph.operandsOf(node).map((operand, slot, all) =>
            graph.isVariable(operand) ? (
              <li key={slot}>
                {names.operands[slot]} gets <b>{inSigns(share(row, slot, names), state.printed)}</b>
                {all.filter((other) => other === operand).length > 1 && <small> as operand {slot + 1}</small>}
              </li>
            ) : null,
          )}
        </ul>
      )}
      {backward && fixed === undefined && <p class="law">{inSigns(sequenceShare(row), state.printed)}</p>}
      {backward && (
        <p class="story">
          {STORIES[row] ?? ""} G is the upstream gradient, {graph.names[node]}.grad.
        </p>
      )}
    </section>
  );
}

function namesAt(state: State, node: number): Names {
  const { graph, data } = state.shown;
  const operands = graph.operandsOf(node).map((operand) => {
    if (graph.kinds[operand] !== CONSTANT) return graph.names[operand];
    const condition = graph.rows[node] === "where" ? graph.written.expression?.[operand] : undefined;
    return condition || short(data[operand]).replace("\u2212", "-");
  });
  return { operands, result: graph.names[node] };
}

/** The first sentence of a row's description, with the operands' own names. */
function described(doc: string, { operands }: Names): string {
  const [first] = doc.split(/\. (?=[A-Z])/);
  return first.replace(/\b[abc]\b(?!')/g, (letter) => operands["abc".indexOf(letter)] ?? letter);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const STORIES: Readonly<Record<string, string>> = {
  add: "Addition hands the upstream gradient to every operand.",
  sub: "Subtraction is addition of the second operand times −1.",
  mul: "Multiplication crosses the wires: each operand gets the other's value times what comes from above.",
  relu: "Open above zero, closed below: then nothing flows back at all.",
  tanh: "Flat far from zero, so that large inputs learn slowly.",
  sigmoid: "Steepest at zero, where a quarter of the gradient goes through; flat far from it.",
  max: "Only the largest gets the gradient.",
};
