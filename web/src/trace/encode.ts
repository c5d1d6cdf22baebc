/** A run as the JSON of a trace, the same that `retrograd explain --format json` writes: Python reads it and checks every sum. */

import { CONSTANT, LEAF, type Source } from "../model/graph";
import type { Run } from "../model/run";
import { edgeLatex, nodeLatex } from "../words/latex";
import { additionText, edgeFormula, stepText } from "../words/sentences";
import type { TraceJson } from "./decode";

function json(x: number): number | string {
  return Number.isFinite(x) ? x : x !== x ? "NaN" : x > 0 ? "Infinity" : "-Infinity";
}

/** The position of each item in a list that grows by those which are new. */
class Positions<Item> {
  readonly items: Item[] = [];
  private readonly known = new Map<string, number>();

  of(item: Item): number {
    const key = JSON.stringify(item);
    if (!this.known.has(key)) this.known.set(key, this.items.push(item) - 1);
    return this.known.get(key) ?? 0;
  }
}

export function encode(run: Run): TraceJson & { readonly words: object } {
  const { graph } = run;
  const all = graph.names.map((_, node) => node);
  const variables = all.filter((node) => graph.isVariable(node));
  const edges = Array.from(graph.from, (_, edge) => edge);
  const kinds = new Positions<TraceJson["kinds"][number]>();
  // A leaf and a constant are written alike, and are told apart by their positions.
  kinds.items.push({ op: "", row: "", output: 0, stored: false }, { op: "", row: "", output: 0, stored: false });
  const sources = sourcesOf(graph.sources);
  const expression = graph.written.expression ?? [];
  return {
    format: "retrograd-trace",
    version: 2,
    engine: graph.engine,
    title: graph.title,
    root: graph.root,
    kinds: kinds.items,
    nodes: {
      kind: all.map((node) => {
        if (graph.kinds[node] === LEAF || graph.kinds[node] === CONSTANT) return graph.kinds[node] === LEAF ? 0 : 1;
        return kinds.of({ op: graph.ops[node], row: graph.rows[node], output: graph.outputIndex(node), stored: true });
      }),
      data: Array.from(run.data, json),
      arity: all.map((node) => graph.first[node + 1] - graph.first[node]),
      place: sources.place,
      group: all.map(() => 0),
    },
    names: variables.map((node) => graph.names[node]),
    grads: variables.map((node) => json(run.final(node))),
    operands: Array.from(graph.from),
    locals: edges.map((edge) => (graph.isVariable(graph.from[edge]) ? json(run.local[edge]) : 0)),
    zeros: edges.filter((edge) => run.zero[edge]),
    measured: [...(run.python ? (graph.written.own ?? []) : [])].map((node) => ({ node, contributions: contributions(run, node) })),
    written: all.flatMap((node) => (graph.kinds[node] !== LEAF && expression[node] ? [[node, expression[node]] as const] : [])),
    files: sources.files,
    functions: sources.functions,
    places: sources.places,
    groups: [{ parent: -1, kind: "program", label: graph.title, path: "" }],
    words: wordsOf(run),
  };
}

/** What a node with a `_backward` of the user's added to each of its operands. */
function contributions(run: Run, node: number): (number | string)[] {
  const { edge, contribution } = run.additions;
  const made = new Map(run.additionsOf(run.visitStep(node)).map((item) => [edge[item], contribution[item]]));
  return run.graph.operandEdges(node).map((own) => json(made.get(own) ?? 0));
}

function sourcesOf(sources: readonly (Source | null)[]): Pick<TraceJson, "files" | "functions" | "places"> & { place: number[] } {
  const [files, functions] = [new Positions<string>(), new Positions<string>()];
  const places = new Positions<TraceJson["places"][number]>();
  const place = sources.map((source) => source && 1 + places.of([files.of(source.file), source.line, functions.of(source.function), source.text]));
  return { files: files.items, functions: functions.items, places: places.items, place: place.map((at) => at ?? 0) };
}

/** The run in sentences. */
function wordsOf(run: Run): object {
  const { graph } = run;
  const edges = Array.from(graph.from, (_, edge) => edge);
  const steps = Array.from({ length: run.stepCount }, (_, step) => stepText(run, step));
  return {
    nodes: graph.names.map((_, node) => nodeLatex(run, node)),
    formulas: graph.names.map((_, node) => graph.formula(node)),
    derivatives: edges.map((edge) => (graph.isVariable(graph.from[edge]) ? edgeFormula(run, edge) : "")),
    rules: edges.map((edge) => edgeLatex(run, edge)),
    forward: steps.slice(0, run.forwardCount),
    backward: steps.slice(run.forwardCount),
    additions: Array.from(run.additions.edge, (_, item) => additionText(run, item)),
  };
}
