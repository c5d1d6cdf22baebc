/** Reads the JSON of `retrograd explain --format json`, and the payload that `retrograd.explore` puts into the page. */

import type { Folding } from "../model/fold";
import { Graph, type Source } from "../model/graph";
import { fromJson } from "../model/numbers";
import { Run } from "../model/run";
import { type PackJson, unpack } from "./pack";

/** What the page is given. */
export interface Payload {
  readonly format: "retrograd-explorer";
  readonly version: number;
  readonly trace?: TraceJson | PackJson | null;
  /** Text of source lines, by file and line. */
  readonly lines?: Readonly<Record<string, Readonly<Record<string, string>>>> | null;
  /** A typed program to begin with, where there is no trace. */
  readonly program?: string | null;
}

type JsonNumber = number | string;

export interface TraceJson {
  readonly format: string;
  readonly version: number;
  readonly engine: string;
  readonly title: string;
  readonly root: number;
  readonly nodes: readonly {
    readonly name: string;
    readonly kind: "leaf" | "constant" | "operation";
    readonly op: string;
    readonly row: string;
    readonly data: JsonNumber;
    readonly expression: string;
    readonly formula: string;
    readonly latex: string;
    readonly source: Source | null;
  }[];
  readonly edges: readonly {
    readonly from: number;
    readonly to: number;
    readonly slot: number;
    readonly local: JsonNumber | null;
    readonly formula: string;
    readonly latex: string;
    readonly zero: boolean;
  }[];
  readonly backward: readonly {
    readonly kind: "seed" | "visit";
    readonly nodes: readonly number[];
    readonly additions: readonly {
      readonly edge: number;
      readonly before: JsonNumber;
      readonly contribution: JsonNumber;
      readonly after: JsonNumber;
    }[];
  }[];
}

const KINDS = { leaf: 0, constant: 1, operation: 2 } as const;

/** Python's own run and its folding, from either form of the trace. */
export function decode(json: TraceJson | PackJson, lines: Payload["lines"] = null): { run: Run; folding: Folding | null } {
  return isPack(json) ? unpack(json) : { run: decodeTrace(json, lines), folding: null };
}

function isPack(json: TraceJson | PackJson): json is PackJson {
  return json.format === "retrograd-pack";
}

function decodeTrace(json: TraceJson, lines: Payload["lines"]): Run {
  if (json.format !== "retrograd-trace" || json.version !== 1) {
    throw new Error("This page reads traces of version 1; write the page again with the retrograd that made the trace.");
  }
  const { nodes, edges } = json;
  const graph = new Graph({
    title: json.title,
    engine: json.engine,
    root: json.root,
    names: nodes.map((node) => node.name),
    kinds: Uint8Array.from(nodes, (node) => KINDS[node.kind]),
    rows: nodes.map((node) => node.row),
    ops: nodes.map((node) => node.op),
    sources: nodes.map(({ source }) => source && { ...source, text: lines?.[source.file]?.[String(source.line)] ?? "" }),
    outputs: new Map(
      nodes.flatMap((node, id) => (node.row === "softmax" ? [[id, Number(/\[(\d+)\]$/.exec(node.formula)?.[1] ?? 0)] as const] : [])),
    ),
    from: Int32Array.from(edges, (edge) => edge.from),
    to: Int32Array.from(edges, (edge) => edge.to),
    slots: Int32Array.from(edges, (edge) => edge.slot),
    written: {
      expression: nodes.map((node) => node.expression),
      formula: nodes.map((node) => node.formula),
      latex: nodes.map((node) => node.latex),
      edgeFormula: edges.map((edge) => edge.formula),
      edgeLatex: edges.map((edge) => edge.latex),
    },
  });
  const visits = json.backward.filter((step) => step.kind === "visit");
  const rows = json.backward.flatMap((step, index) => step.additions.map((item) => ({ ...item, step: index })));
  return new Run(
    graph,
    Float64Array.from(nodes, (node) => fromJson(node.data)),
    Float64Array.from(edges, (edge) => (edge.local === null ? NaN : fromJson(edge.local))),
    Uint8Array.from(edges, (edge) => (edge.zero ? 1 : 0)),
    Int32Array.from(visits, (step) => step.nodes[0]),
    {
      edge: Int32Array.from(rows, (item) => item.edge),
      before: Float64Array.from(rows, (item) => fromJson(item.before)),
      contribution: Float64Array.from(rows, (item) => fromJson(item.contribution)),
      after: Float64Array.from(rows, (item) => fromJson(item.after)),
      step: Int32Array.from(rows, (item) => item.step),
    },
    true,
  );
}
