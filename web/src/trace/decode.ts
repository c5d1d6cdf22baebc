/** Reads the JSON of a trace (see src/retrograd/trace/schema.json), and the payload in which the page is given it. */

import { backward, locals } from "../model/evaluate";
import type { Folding } from "../model/fold";
import { CONSTANT, Graph, LEAF, OPERATION, type Source } from "../model/graph";
import { fromJson, repr } from "../model/numbers";
import type { Run } from "../model/run";

/** What the page is given. */
export interface Payload {
  readonly format: "retrograd-explorer";
  readonly version: number;
  readonly trace?: TraceJson | null;
  /** A typed program to begin with, where there is no trace. */
  readonly program?: string | null;
  /** The step, the view and more to begin with (see state/link.ts). */
  readonly options?: Readonly<Record<string, string>>;
}

type JsonNumber = number | string;

/** Numbers, or base64 of them, little-endian. */
export type Column = readonly JsonNumber[] | { readonly type: "u8" | "u16" | "u32" | "f64"; readonly count: number; readonly data: string };

export interface TraceJson {
  readonly format: "retrograd-trace";
  readonly version: number;
  readonly engine: string;
  readonly title: string;
  readonly root: number;
  readonly kinds: readonly { readonly op: string; readonly row: string; readonly output: number; readonly stored: boolean }[];
  readonly nodes: { readonly [name in "kind" | "data" | "arity" | "place" | "group"]: Column };
  readonly names: readonly string[];
  readonly grads: Column;
  readonly operands: Column;
  readonly locals: Column;
  readonly zeros: readonly number[];
  readonly measured: readonly { readonly node: number; readonly contributions: readonly JsonNumber[] }[];
  readonly written: readonly (readonly [number, string])[];
  readonly files: readonly string[];
  readonly functions: readonly string[];
  readonly places: readonly (readonly [number, number, number, string])[];
  readonly groups: readonly { readonly parent: number; readonly kind: string; readonly label: string; readonly path: string }[];
}

type Numbers = ArrayLike<number> & Iterable<number>;

function numbers(column: Column): Numbers {
  if (!("type" in column)) return column.map(fromJson);
  const bytes = Uint8Array.from(atob(column.data), (letter) => letter.charCodeAt(0));
  switch (column.type) {
    case "u8":
      return bytes;
    case "u16":
      return new Uint16Array(bytes.buffer);
    case "u32":
      return new Uint32Array(bytes.buffer);
    case "f64":
      return new Float64Array(bytes.buffer);
  }
}

/** Python's own run and its folding. */
export function decode(json: TraceJson): { run: Run; folding: Folding } {
  if (json.format !== "retrograd-trace" || json.version !== 2) {
    throw new Error("This page reads traces of version 2; write the page again with the retrograd that made the trace.");
  }
  const kind = numbers(json.nodes.kind);
  const data = Float64Array.from(numbers(json.nodes.data));
  const graph = graphOf(json, kind, data);
  const { local, zero } = withStored(json, graph, kind, locals(graph, data));
  const own = new Map(json.measured.map(({ node, contributions }) => [node, contributions.map(fromJson)] as const));
  const run = backward(graph, data, local, zero, { own }, true);
  return { run, folding: { groups: json.groups, owner: Int32Array.from(numbers(json.nodes.group)) } };
}

function graphOf(json: TraceJson, kind: Numbers, data: Float64Array): Graph {
  const arity = numbers(json.nodes.arity);
  const place = numbers(json.nodes.place);
  const operands = numbers(json.operands);
  const places = json.places.map(([file, line, name, text]): Source => ({ file: json.files[file], line, function: json.functions[name], text }));
  const to = new Int32Array(operands.length);
  const slots = new Int32Array(operands.length);
  let edge = 0;
  Array.from(arity).forEach((count, node) => {
    for (let slot = 0; slot < count; slot++, edge++) [to[edge], slots[edge]] = [node, slot];
  });
  let named = 0;
  const expression: string[] = [];
  for (const [node, text] of json.written) expression[node] = text;
  const outputs = new Map<number, number>();
  Array.from(kind).forEach((number, node) => {
    if (json.kinds[number].output) outputs.set(node, json.kinds[number].output);
  });
  return new Graph({
    title: json.title,
    engine: json.engine,
    root: json.root,
    names: Array.from(kind, (number, node) => (number === 1 ? repr(data[node]) : json.names[named++])),
    kinds: Uint8Array.from(kind, (number) => (number === 0 ? LEAF : number === 1 ? CONSTANT : OPERATION)),
    rows: Array.from(kind, (number) => json.kinds[number].row),
    ops: Array.from(kind, (number) => json.kinds[number].op),
    sources: Array.from(place, (at) => (at === 0 ? null : places[at - 1])),
    from: Int32Array.from(operands),
    to,
    slots,
    outputs,
    written: { expression, own: new Set(json.measured.map(({ node }) => node)) },
  });
}

/** The local derivatives that Python stored, in place of those computed here. */
function withStored(
  json: TraceJson,
  graph: Graph,
  kind: Numbers,
  computed: { local: Float64Array; zero: Uint8Array },
): { local: Float64Array; zero: Uint8Array } {
  const stored = numbers(json.locals);
  const { local, zero } = computed;
  let next = 0;
  for (const node of graph.operations) {
    if (!json.kinds[kind[node]].stored) continue;
    for (let edge = graph.first[node]; edge < graph.first[node + 1]; edge++, next++) {
      if (!graph.isVariable(graph.from[edge])) continue;
      local[edge] = stored[next];
      zero[edge] = 0;
    }
  }
  for (const edge of json.zeros) zero[edge] = 1;
  return { local, zero };
}
