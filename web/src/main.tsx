/** The one entry of the bundle: the page mounts itself, and a notebook widget calls `render`. */

import type { Payload } from "./trace/decode";
import { mount } from "./mount";
import "./style/explorer.css";

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
    const { store } = mount(place, JSON.parse(data.textContent ?? "{}") as Payload, true);
    // For scripts: what a person can do here, they can do too.
    Object.assign(place, { explorer: store });
  } catch (problem) {
    place.textContent = `This page cannot be shown: ${problem instanceof Error ? problem.message : String(problem)}`;
    throw problem;
  }
}
