/**
 * What a link, an embedded figure and an assignment can say: one list of options, in one notation.
 *
 * `#program=a = 2; a * a&step=last&view=ledger` after the address of the page; the same without the `#` as `options` of a payload or of
 * `mount`; and `figure.apply("step=3")` while it is shown. What does not fit is left out, and told. docs/explorer.md is
 * the manual.
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

/** What an option does to a store; false where the value does not fit, and nothing is done. */
type Act = (store: Store, value: string) => boolean;

/** Every option, in the order in which they are applied. */
export const OPTIONS: Readonly<Record<string, Act>> = {
  program: (store, value) => {
    store.open(splitInputs(value)); // which says itself what is wrong
    return true;
  },
  set: (store, value) => {
    const found = pairs(store.state.run, value);
    for (const [leaf, number] of found) store.edit(leaf, number);
    return found.length === value.split(" ").filter(Boolean).length;
  },
  digits: (store, value) => {
    const count = value === "all" ? 0 : Number(value);
    const fits = Number.isInteger(count) && count >= 0 && count <= 17;
    if (fits) store.set({ digits: count });
    return fits;
  },
  theme: (store, value) => {
    const fits = value === "light" || value === "dark" || value === "auto";
    if (fits) store.set({ theme: value });
    return fits;
  },
  figure: (store, value) => {
    store.set({ figure: isOn(value) });
    return true;
  },
  hint: (store, value) => {
    store.set({ hint: isOn(value) });
    return true;
  },
  answers: (store, value) => {
    const fits = value === "shown" || value === "hidden" || value === "locked";
    if (fits) store.set({ answers: value });
    return fits;
  },
  views: (store, value) => {
    const names = value.split(",").filter(Boolean);
    const views = TABS.filter((tab) => names.includes(tab));
    const { tab } = store.state;
    store.set({ views: value === "all" ? null : views, tab: value === "all" || views.includes(tab) ? tab : (views[0] ?? tab) });
    return value === "all" || views.length === names.length;
  },
  view: (store, value) => {
    const tab = tabOf(value);
    if (tab !== undefined) store.setTab(tab);
    return tab !== undefined;
  },
  bug: (store, value) => {
    const fits = BUGS.some(({ id }) => id === value);
    store.setBug(fits ? value : null);
    return fits || value === "";
  },
  assign: (store, value) => {
    store.setAssign(isOn(value));
    return true;
  },
  order: (store, value) => {
    const { graph } = store.state.run;
    const names = list(value);
    const order = names.flatMap((name) => graph.find(name) ?? []);
    store.pass({ order, ran: false });
    return order.length === names.length;
  },
  step: (store, value) => {
    const step = stepOf(store.state.shown, value);
    if (step !== undefined) store.goTo(step);
    return step !== undefined;
  },
  node: (store, value) => {
    const node = store.state.run.graph.find(value);
    if (node !== undefined) {
      store.show(node);
      store.reach(node);
    } else if (value === "") store.select(null);
    return node !== undefined || value === "";
  },
  edge: (store, value) => {
    const edge = edgeOf(store.state.run, value);
    if (edge !== undefined) store.select({ kind: "edge", id: edge });
    return edge !== undefined;
  },
};

function isOn(value: string): boolean {
  return value !== "0" && value !== "false";
}

function tabOf(value: string): Tab | undefined {
  return TABS.find((tab) => tab === value);
}

/** The step of a number from 1, or of a word; none where there are not so many. */
function stepOf(run: Run, value: string): number | undefined {
  const words: Readonly<Record<string, number>> = { first: 0, forward: run.forwardCount - 1, seed: run.forwardCount, last: run.stepCount - 1 };
  const number = Math.floor(Number(value));
  return words[value] ?? (number >= 1 && number <= run.stepCount ? number - 1 : undefined);
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

/** Bring a store into the state that the options say. Returns what does not fit, as it was written. */
export function applyOptions(store: Store, options: Options): string[] {
  const given = typeof options === "string" ? [...new URLSearchParams(options.replace(/^[#?]/, ""))] : Object.entries(options);
  const values = new Map(given.map(([name, value]) => [name, String(value)]));
  // As links of older pages had it.
  if (values.get("assign") === "") values.set("assign", "1");
  const ignored = [...values].filter(([name]) => !(name in OPTIONS));
  for (const [name, act] of Object.entries(OPTIONS)) {
    const value = values.get(name);
    if (value !== undefined && !act(store, value)) ignored.push([name, value]);
  }
  return ignored.map(([name, value]) => `${name}=${value}`);
}

/** Say what of a link was left out. */
export function tellIgnored(store: Store, ignored: readonly string[]): void {
  if (ignored.length) store.set({ problem: { text: `The link asks for something that this page does not have. It was left out: ${ignored.join(", ")}` } });
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
  const read = (): void => tellIgnored(store, applyOptions(store, location.hash));
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
