/** What a row of the op table is; the rows themselves are in ops.gen.ts. */

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
