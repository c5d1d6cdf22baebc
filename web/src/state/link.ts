/**
 * What a link, an embedded figure and an assignment can say: one list of options, in one notation.
 *
 * `#program=a = 2; a * a&step=last&view=ledger` after the address of the page; the same without the `#` as `options` of a payload or of
 * `mount`; and `figure.apply("step=3")` while it is shown. What does not fit is left out. docs/explorer.md is the manual.
 */

import type { Graph } from "../model/graph";
import { readNumber, repr } from "../model/numbers";
import { splitInputs } from "../model/program";
import type { Run } from "../model/run";
import { BUGS } from "../lab/bugs";
import { TABS, type State, type Tab } from "./state";
import type { Store } from "./store";

/** Options as `name=value&name=value`, or as an object. */
export type Options = string | Readonly<Record<string, string | number | boolean>>;

/** What an option does to a store. */
type Act = (store: Store, value: string) => void;

/** Every option, in the order in which they are applied. */
export const OPTIONS: Readonly<Record<string, Act>> = {
  program: (store, value) => void store.open(splitInputs(value)),
  set: (store, value) => {
    for (const [leaf, number] of pairs(store.state.run, value)) store.edit(leaf, number);
  },
  digits: (store, value) => {
    const count = value === "all" ? 0 : Number(value);
    if (Number.isInteger(count) && count >= 0 && count <= 17) store.set({ digits: count });
  },
  theme: (store, value) => {
    if (value === "light" || value === "dark" || value === "auto") store.set({ theme: value });
  },
  figure: (store, value) => store.set({ figure: value !== "0" && value !== "false" }),
  hint: (store, value) => store.set({ hint: value !== "0" && value !== "false" }),
  answers: (store, value) => {
    if (value === "shown" || value === "hidden" || value === "locked") store.set({ answers: value });
  },
  views: (store, value) => {
    const views = TABS.filter((tab) => value.split(",").includes(tab));
    const { tab } = store.state;
    store.set({ views: value === "all" ? null : views, tab: value === "all" || views.includes(tab) ? tab : (views[0] ?? tab) });
  },
  view: (store, value) => {
    const tab = tabOf(value);
    if (tab !== undefined) store.setTab(tab);
  },
  bug: (store, value) => store.setBug(BUGS.some(({ id }) => id === value) ? value : null),
  assign: (store, value) => store.setAssign(value !== "0" && value !== "false"),
  order: (store, value) => {
    const { graph } = store.state.run;
    store.pass({ order: list(value).flatMap((name) => graph.find(name) ?? []), ran: false });
  },
  step: (store, value) => {
    const step = stepOf(store.state.shown, value);
    if (step !== undefined) store.goTo(step);
  },
  node: (store, value) => {
    const node = store.state.run.graph.find(value);
    if (node !== undefined) {
      store.show(node);
      store.reach(node);
    } else if (value === "") store.select(null);
  },
  edge: (store, value) => {
    const edge = edgeOf(store.state.run, value);
    if (edge !== undefined) store.select({ kind: "edge", id: edge });
  },
};

function tabOf(value: string): Tab | undefined {
  return TABS.find((tab) => tab === value);
}

/** The step of a number from 1, or of a word. */
function stepOf(run: Run, value: string): number | undefined {
  const words: Readonly<Record<string, number>> = { first: 0, forward: run.forwardCount - 1, seed: run.forwardCount, last: run.stepCount - 1 };
  const number = Math.floor(Number(value));
  return words[value] ?? (number >= 1 ? number - 1 : undefined);
}

/** An edge by its number, or as `a>d` for the first of those from a to d, `a>d:2` for the second. */
function edgeOf({ graph }: Run, value: string): number | undefined {
  const named = /^(.+)>([^:]+)(?::(\d+))?$/.exec(value);
  if (named === null) return value !== "" && Number(value) < graph.from.length ? Number(value) : undefined;
  const [from, to] = [graph.find(named[1]), graph.find(named[2])];
  return to === undefined ? undefined : graph.operandEdges(to).filter((edge) => graph.from[edge] === from)[Number(named[3] ?? 1) - 1];
}

/** Names in a list; inside a name, a comma, a space and a colon are percent-encoded. */
function list(value: string): string[] {
  return value.split(/[ ,]+/).filter(Boolean).map(decoded);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function encoded(name: string): string {
  return name.replace(/[%,:\s]/g, (sign) => encodeURIComponent(sign));
}

/** `a:4.0 b:2` */
function pairs({ graph }: Run, value: string): [number, number][] {
  return value.split(" ").filter(Boolean).flatMap((pair): [number, number][] => {
    const at = pair.lastIndexOf(":");
    const leaf = graph.find(decoded(pair.slice(0, at)));
    const number = readNumber(pair.slice(at + 1));
    return leaf !== undefined && number === number ? [[leaf, number]] : [];
  });
}

/** Bring a store into the state that the options say. */
export function applyOptions(store: Store, options: Options): void {
  const given = typeof options === "string" ? [...new URLSearchParams(options.replace(/^[#?]/, ""))] : Object.entries(options);
  const values = new Map(given.map(([name, value]) => [name, String(value)]));
  // As links of older pages had it.
  if (values.get("assign") === "") values.set("assign", "1");
  for (const [name, act] of Object.entries(OPTIONS)) {
    const value = values.get(name);
    if (value !== undefined) act(store, value);
  }
}

/** What of the state a link carries. */
export function optionsOf(state: State, original: boolean): Record<string, string> {
  const options: Record<string, string> = {};
  const { graph } = state.run;
  if (!original && state.program !== null) options.program = programText(state);
  else if (state.edits.size) options.set = [...state.edits].map(([leaf, value]) => `${encoded(graph.names[leaf])}:${repr(value)}`).join(" ");
  options.step = String(state.step + 1);
  if (state.selection?.kind === "node") options.node = graph.names[state.selection.id];
  if (state.selection?.kind === "edge") options.edge = String(state.selection.id);
  if (state.tab !== (state.views?.[0] ?? "step")) options.view = state.tab;
  if (state.views !== null) options.views = state.views.join(",");
  if (state.answers !== "shown") options.answers = state.answers;
  if (state.figure) options.figure = "1";
  if (state.theme !== "auto") options.theme = state.theme;
  if (state.digits !== 4) options.digits = state.digits ? String(state.digits) : "all";
  if (state.bug !== null) options.bug = state.bug;
  if (state.assign) options.assign = "1";
  if (state.order.length) options.order = state.order.map((node) => encoded(graph.names[node])).join(",");
  return options;
}

/** The same as text. */
export function linkText(options: Readonly<Record<string, string>>): string {
  return new URLSearchParams(options).toString();
}

/** The program with the numbers that its inputs have now. */
export function programText(state: State): string {
  const { graph, data } = state.run;
  const inputs = graph.leaves.map((leaf) => `${graph.names[leaf]} = ${repr(data[leaf]).replace(/\.0$/, "")}`);
  return [...inputs, state.program?.text ?? graph.title].join("; ");
}

/** Keep the address in step with the state; the page's own graph needs no name in it. Returns what stops it. */
export function followHash(store: Store, own: Graph): () => void {
  let timer = 0;
  const write = (): void => {
    timer = 0;
    try {
      history.replaceState(null, "", `#${linkText(optionsOf(store.state, store.state.run.graph === own))}`);
    } catch {
      // A sandboxed frame has no address of its own: the state stays in memory.
    }
  };
  const read = (): void => applyOptions(store, location.hash);
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
