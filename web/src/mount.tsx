/** Shows the explorer inside an element of any page: the page itself, a notebook widget, a figure of a lesson. */

import { render } from "preact";
import { splitInputs, runProgram, type Program } from "./model/program";
import { decode, type Payload } from "./trace/decode";
import { applyOptions, followHash, tellIgnored, type Options } from "./state/link";
import { Store } from "./state/store";
import { App } from "./app";

const FIRST: Program = splitInputs("a = 2; b = -3; c = 10; (a + b) * c");

/** An explorer on a page. */
export interface Figure {
  /** Its state, and everything that can be done to it; `store.subscribe` is told of every change. */
  readonly store: Store;
  /** Bring it to another step, view, node, … (see state/link.ts). Returns what does not fit. */
  readonly apply: (options: Options) => readonly string[];
  readonly remove: () => void;
}

/** Show a payload: a trace, or a program as text. As the whole page, it has the address too. */
export function mount(element: HTMLElement, payload: Payload, page = false): Figure {
  const program = payload.program ? splitInputs(payload.program) : FIRST;
  const { run, folding } = payload.trace ? decode(payload.trace) : { run: runProgram(program), folding: null };
  const store = new Store(run, payload.trace ? null : program, folding, { width: element.clientWidth, height: element.clientHeight });
  const ignored = applyOptions(store, payload.options ?? {});
  // What the page shows without an address: a link leaves this graph out, and must name any other.
  const own = store.state.run.graph;
  if (page) tellIgnored(store, [...ignored, ...applyOptions(store, location.hash)]);
  // What the options did is where the reader begins, and nothing to take back.
  store.forgetChanges();
  render(<App store={store} page={page} />, element);
  const stop = page ? followHash(store, own) : () => undefined;
  // In a frame the keyboard stays with the page around it until the reader comes here.
  if (page && parent === window) element.querySelector<HTMLElement>(".explorer")?.focus({ preventScroll: true });
  return {
    store,
    apply: (options) => applyOptions(store, options),
    remove: () => {
      stop();
      render(null, element);
    },
  };
}
