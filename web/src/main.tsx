/** The one entry of the bundle: the page mounts itself, and a notebook widget calls `render`. */

import { render as renderTree } from "preact";
import { App } from "./app";
import { decode, type Payload } from "./decode";
import { splitInputs, runProgram, type Program } from "./program";
import { Store } from "./store";
import "./style.css";

const FIRST: Program = splitInputs("a = 2; b = -3; c = 10; (a + b) * c");

/** Show a payload inside an element. Returns what removes it again. */
export function mount(element: HTMLElement, payload: Payload): () => void {
  const program = payload.program ? splitInputs(payload.program) : FIRST;
  const run = payload.trace ? decode(payload.trace) : runProgram(program);
  const store = new Store(run, payload.trace ? null : program, payload.scopes ?? null);
  renderTree(<App store={store} />, element);
  element.querySelector<HTMLElement>(".explorer")?.focus({ preventScroll: true });
  return () => renderTree(null, element);
}

const data = document.getElementById("retrograd-data");
const place = document.getElementById("retrograd");
if (data && place) mount(place, JSON.parse(data.textContent ?? "{}") as Payload);
