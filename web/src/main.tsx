/** The one entry of the bundle: the page mounts itself, and a notebook widget calls `render`. */

import { render as renderTree } from "preact";
import { splitInputs, runProgram, type Program } from "./model/program";
import { decode, type Payload } from "./trace/decode";
import { followHash, fromHash } from "./state/hash";
import { Store } from "./state/store";
import { App, NARROW } from "./app";
import "./style/explorer.css";

const FIRST: Program = splitInputs("a = 2; b = -3; c = 10; (a + b) * c");

/** Show a payload inside an element; as the whole page, it has the address too. Returns its store and what removes it. */
export function mount(element: HTMLElement, payload: Payload, page = false): { store: Store; remove: () => void } {
  const program = payload.program ? splitInputs(payload.program) : FIRST;
  const { run, folding } = payload.trace ? decode(payload.trace) : { run: runProgram(program), folding: null };
  const store = new Store(run, payload.trace ? null : program, folding, element.clientWidth < NARROW && element.clientWidth > 0);
  if (page) fromHash(store, location.hash);
  renderTree(<App store={store} />, element);
  const stop = page ? followHash(store) : () => undefined;
  if (page) element.querySelector<HTMLElement>(".explorer")?.focus({ preventScroll: true });
  const remove = (): void => {
    stop();
    renderTree(null, element);
  };
  return { store, remove };
}

/** What a notebook widget offers: its shared traits (see anywidget). */
interface Model {
  get(name: "payload"): Payload;
  get(name: "height" | "step"): number;
  set(name: "step" | "values", value: unknown): void;
  on(name: string, listener: () => void): void;
  save_changes(): void;
}

/** Show the widget, and keep its step and its edited numbers the same on both sides. */
function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const frame = document.createElement("div");
  frame.style.height = `${model.get("height")}px`;
  el.append(frame);
  const { store, remove } = mount(frame, model.get("payload"));
  if (model.get("step") > 0) store.goTo(model.get("step") - 1);
  let known = store.state;
  store.subscribe(() => {
    const { step, edits, run } = store.state;
    const same = known.step === step && known.edits === edits;
    known = store.state;
    if (same) return;
    model.set("step", step + 1);
    model.set("values", Object.fromEntries([...edits].map(([leaf, value]) => [run.graph.names[leaf], value])));
    model.save_changes();
  });
  model.on("change:step", () => store.goTo(model.get("step") - 1));
  return remove;
}

export default { render };

const data = document.getElementById("retrograd-data");
const place = document.getElementById("retrograd");
if (data && place) {
  try {
    open(place, data);
  } catch (problem) {
    place.textContent = `This page cannot be shown: ${problem instanceof Error ? problem.message : String(problem)}`;
    throw problem;
  }
}

/** The page shows what it was given. */
function open(place: HTMLElement, data: HTMLElement): void {
  const { store } = mount(place, JSON.parse(data.textContent ?? "{}") as Payload, true);
  // For scripts: what a person can do here, they can do too.
  Object.assign(place, { explorer: store });
}
