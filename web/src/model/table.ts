/** The rows of the op table, by name; they are generated into ops.gen.ts. */

import { NARY, OPS } from "../../ops.gen";

/** A function of operands; the partials take the result as their last argument. */
export type Formula = (...x: number[]) => number;
/** A local derivative, or null where it is structurally zero: then nothing is added at all. */
export type Partial = (...x: number[]) => number | null;

export interface Op {
  readonly name: string;
  readonly symbol: string;
  /** The name of the rule, for those who learn it; may be empty. */
  readonly card: string;
  readonly doc: string;
  readonly aliases: readonly string[];
  readonly public: boolean;
  /** Operands that must be plain numbers. */
  readonly static: readonly number[];
  readonly forward: string;
  readonly partials: readonly string[];
  readonly f: Formula;
  readonly p: readonly Partial[];
  /** Where Python raises, and what it says. */
  readonly domain: readonly (readonly [(...x: number[]) => boolean, string])[];
}

export interface NaryOp {
  readonly name: string;
  readonly doc: string;
  readonly paired: boolean;
  readonly outputs: boolean;
  readonly empty: boolean;
  readonly partials: readonly string[];
  readonly init: number;
  readonly step: (s: number, a: number, b: number, m: number) => number;
  readonly finish: (s: number, a: number, m: number, n: number) => number;
  readonly p: readonly Partial[];
}

/** One way of writing formulas (see `notation.ts`). */
export interface Style {
  /** Numbers as `repr` writes them, not as `%g` does. */
  readonly exact: boolean;
  readonly wrap: string;
  readonly call: string;
  /** A template, how tightly its result binds, and how tightly each operand must. */
  readonly forms: Readonly<Record<string, readonly [string, number, readonly number[]]>>;
  readonly constants: Readonly<Record<string, readonly [string, number]>>;
}

export const ROWS: ReadonlyMap<string, Op> = new Map(OPS.map((row) => [row.name, row]));
export const NARY_ROWS: ReadonlyMap<string, NaryOp> = new Map(NARY.map((row) => [row.name, row]));

/** Every function that may be called, by each of its names. */
export const CALLS: ReadonlyMap<string, string> = new Map([
  ...[...NARY_ROWS.keys()].map((name) => [name, name] as const),
  ...[...ROWS.values()].filter((row) => row.public).flatMap((row) => [row.name, ...row.aliases].map((name) => [name, row.name] as const)),
]);
