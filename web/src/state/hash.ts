/** The state in the address, so that a link leads to a step; in memory alone where the browser forbids more. */

import { readNumber, repr } from "../model/numbers";
import { splitInputs } from "../model/program";
import type { State, Store, Tab } from "./store";

const TABS: readonly Tab[] = ["step", "waterfall", "ledger", "influence", "formula", "why", "game", "predict", "bugs"];

/** What of the state a link carries. */
export function toHash(state: State, original: boolean): string {
  const parts = new URLSearchParams();
  const { graph } = state.run;
  if (!original && state.program !== null) parts.set("program", programText(state));
  else if (state.edits.size) parts.set("set", [...state.edits].map(([leaf, value]) => `${graph.names[leaf]}:${repr(value)}`).join(" "));
  parts.set("step", String(state.step + 1));
  if (state.selection?.kind === "node") parts.set("node", graph.names[state.selection.id]);
  if (state.selection?.kind === "edge") parts.set("edge", String(state.selection.id));
  if (state.tab !== "step") parts.set("view", state.tab);
  if (state.theme !== "auto") parts.set("theme", state.theme);
  if (state.bug !== null) parts.set("bug", state.bug);
  if (state.assign) parts.set("assign", "1");
  return parts.toString();
}

/** The program with the numbers that its inputs have now. */
export function programText(state: State): string {
  const { graph, data } = state.run;
  const inputs = graph.leaves.map((leaf) => `${graph.names[leaf]} = ${repr(data[leaf]).replace(/\.0$/, "")}`);
  return [...inputs, state.program?.text ?? graph.title].join("; ");
}

/** Bring a store into the state that a link carries; what does not fit is left out. */
export function fromHash(store: Store, hash: string): void {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const program = parts.get("program");
  if (program) store.open(splitInputs(program));
  for (const pair of (parts.get("set") ?? "").split(" ").filter(Boolean)) {
    const at = pair.lastIndexOf(":");
    const leaf = store.state.run.graph.find(pair.slice(0, at));
    const value = readNumber(pair.slice(at + 1));
    if (leaf !== undefined && value === value) store.edit(leaf, value);
  }
  const bug = parts.get("bug");
  if (bug) store.setBug(bug);
  if (parts.has("assign")) store.setAssign(true);
  const view = TABS.find((tab) => tab === parts.get("view"));
  if (view !== undefined && view !== "predict") store.setTab(view);
  const theme = parts.get("theme");
  if (theme === "light" || theme === "dark") store.set({ theme });
  const node = parts.has("node") ? store.state.run.graph.find(parts.get("node") ?? "") : undefined;
  const edge = Number(parts.get("edge") ?? NaN);
  if (node !== undefined) store.show(node);
  else if (edge >= 0 && edge < store.state.run.graph.from.length) store.select({ kind: "edge", id: edge });
  const step = Number(parts.get("step") ?? NaN);
  if (step >= 1) store.goTo(Math.floor(step) - 1);
}

/** Keep the address in step with the state. Returns what stops it. */
export function followHash(store: Store): () => void {
  const first = store.state.run.graph;
  let timer = 0;
  const write = (): void => {
    timer = 0;
    try {
      history.replaceState(null, "", `#${toHash(store.state, store.state.run.graph === first)}`);
    } catch {
      // A sandboxed frame has no address of its own: the state stays in memory.
    }
  };
  const read = (): void => fromHash(store, location.hash);
  const stop = store.subscribe(() => {
    if (timer === 0) timer = window.setTimeout(write, 150);
  });
  addEventListener("hashchange", read);
  return () => {
    stop();
    clearTimeout(timer);
    removeEventListener("hashchange", read);
  };
}
