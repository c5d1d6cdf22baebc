/** The one entry of the bundle: the page mounts itself, and a notebook widget calls `render`. */

import { render as renderTree } from "preact";
import { App, NARROW } from "./app";
import { decode, type Payload } from "./decode";
import { followHash, fromHash } from "./hash";
import { splitInputs, runProgram, type Program } from "./program";
import { Store } from "./store";
import "./style.css";

const FIRST: Program = splitInputs("a = 2; b = -3; c = 10; (a + b) * c");

/** Show a payload inside an element; as the whole page, it has the address too. Returns what removes it again. */
export function mount(element: HTMLElement, payload: Payload, page = false): () => void {
  const program = payload.program ? splitInputs(payload.program) : FIRST;
  const { run, folding } = payload.trace ? decode(payload.trace, payload.lines) : { run: runProgram(program), folding: null };
  const store = new Store(run, payload.trace ? null : program, folding, element.clientWidth < NARROW && element.clientWidth > 0);
  if (page) fromHash(store, location.hash);
  renderTree(<App store={store} />, element);
  const stop = page ? followHash(store) : () => undefined;
  if (page) element.querySelector<HTMLElement>(".explorer")?.focus({ preventScroll: true });
  return () => {
    stop();
    renderTree(null, element);
  };
}

const data = document.getElementById("retrograd-data");
const place = document.getElementById("retrograd");
if (data && place) mount(place, JSON.parse(data.textContent ?? "{}") as Payload, true);
