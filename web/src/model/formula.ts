/** Reads formulas: those of the op table, and what a person types. Nothing that is read is ever run as JavaScript. */

import { CALLS } from "./table";

/** A tree; `at` is where it stands, and `outer` where it stands with its parentheses. */
export type Expr = { readonly at: Span; readonly outer?: Span } & (
  | { readonly type: "number"; readonly value: number }
  | { readonly type: "name"; readonly name: string }
  | { readonly type: "binary"; readonly sign: string; readonly left: Expr; readonly right: Expr }
  | { readonly type: "compare"; readonly sign: string; readonly left: Expr; readonly right: Expr }
  | { readonly type: "minus" | "not"; readonly operand: Expr }
  | { readonly type: "logic"; readonly sign: "and" | "or"; readonly left: Expr; readonly right: Expr }
  | {
      readonly type: "call";
      readonly name: string;
      readonly operands: readonly Expr[];
      /** How many operands the first list has, for `dot([a, b], [c, d])`. */
      readonly split: number;
      /** Which output is meant, for `softmax(a, b)[1]`. */
      readonly output: number | null;
    }
);

/** Where a tree stands as an operand, its parentheses included. */
export function outerSpan(tree: Expr): Span {
  return tree.outer ?? tree.at;
}

/** Where something stands in the text: from, to. */
export type Span = readonly [number, number];

/** What is wrong with a text, and where. */
export class FormulaError extends Error {
  constructor(
    message: string,
    readonly at: Span,
  ) {
    super(message);
  }
}

interface Token {
  readonly kind: "number" | "name" | "sign" | "end";
  readonly text: string;
  readonly at: Span;
}

/** Latin and Greek letters, but for the Greek ones that look like Latin ones (see trace/grammar.py). */
export const LETTERS = "A-Za-z_\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u017f\\u0393\\u0394\\u0398\\u039b\\u039e\\u03a0\\u03a3\\u03a6\\u03a8\\u03a9\\u03b1-\\u03be\\u03c0-\\u03c9";
/** A name, as the source of a regular expression. */
export const NAME = `[${LETTERS}][${LETTERS}0-9]*`;

const TOKEN = new RegExp(
  String.raw`(?<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+\u2212]?[0-9]+)?)|(?<name>${NAME})|` +
    String.raw`(?<sign>\*\*|//|<=|>=|==|!=|[-+*/%()[\],<>=\u2212\u00d7\u00b7\u22c5\u00f7])|(?<space>\s+)`,
  "y",
);
const SIGNS: Readonly<Record<string, string>> = { "\u2212": "-", "\u00d7": "*", "\u00b7": "*", "\u22c5": "*", "\u00f7": "/" };
/** How tightly a sign binds. */
const LEVEL: Readonly<Record<string, number>> = { "+": 4, "-": 4, "*": 5, "/": 5, "%": 5, "//": 5, "**": 7 };
const MINUS_LEVEL = 6;
const COMPARISONS = ["<", "<=", ">", ">=", "==", "!="];
/** What is typed in mathematics, and how it is written here. */
const WRITTEN: Record<string, string | undefined> = {
  "^": "a power is written **, as in a**2",
  "²": "a power is written **, as in a**2",
  "³": "a power is written **, as in a**3",
  "√": "a root is written sqrt(x)",
  "|": "an absolute value is written abs(x)",
  "≤": "this is written <=",
  "≥": "this is written >=",
  "≠": "this is written !=",
};
/** Deeper than this is refused: it is no expression that a person reads. */
const DEEPEST = 500;

function tokens(text: string, from: number): Token[] {
  const found: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    const at: Span = [from + start, from + start + 1];
    if (match === null) {
      const last = found.at(-1);
      const written = WRITTEN[text[start]];
      if (text[start] === "." && last?.kind === "name") throw attribute(text, last, start, at);
      const hint = written === undefined ? "" : `: ${written}`;
      throw new FormulaError(`“${text[start]}” is not part of an expression${hint}.`, at);
    }
    const groups = match.groups ?? {};
    const place: Span = [from + start, from + TOKEN.lastIndex];
    if (groups.number !== undefined) found.push({ kind: "number", text: groups.number.replace("\u2212", "-"), at: place });
    else if (groups.name !== undefined) found.push({ kind: "name", text: groups.name, at: place });
    else if (groups.sign !== undefined) found.push({ kind: "sign", text: SIGNS[groups.sign] ?? groups.sign, at: place });
  }
  found.push({ kind: "end", text: "", at: [from + text.length, from + text.length] });
  return found;
}

/** `math.exp` */
function attribute(text: string, owner: Token, dot: number, at: Span): FormulaError {
  const name = new RegExp(`^${NAME}`).exec(text.slice(dot + 1))?.[0] ?? "";
  return new FormulaError(`Write ${name || "a name"} without ${owner.text} and the dot: ${name ? `${name}(…)` : "attributes are not part of an expression"}.`, at);
}

class Reader {
  private position = 0;
  private depth = 0;

  constructor(private readonly all: readonly Token[]) {}

  private get next(): Token {
    return this.all[this.position];
  }

  private take(text: string): boolean {
    if (this.next.kind === "end" || this.next.text !== text) return false;
    this.position++;
    return true;
  }

  private expect(text: string): void {
    if (!this.take(text)) throw this.unexpected(`“${text}” is expected`);
  }

  private unexpected(wanted: string): FormulaError {
    const came = this.next.kind === "end" ? "the end came" : `“${this.next.text}” came`;
    return new FormulaError(`${wanted}, and ${came}.`, this.next.at);
  }

  whole(): Expr {
    const tree = this.logic();
    if (this.next.kind === "end") return tree;
    const before = this.all[this.position - 1];
    if (before.kind === "name" && CALLS.has(before.text)) {
      throw new FormulaError(`The operand of ${before.text} stands in parentheses: ${before.text}(…).`, before.at);
    }
    if (before.kind === "number" && this.next.kind === "name") {
      throw new FormulaError(`An operator is missing between ${before.text} and ${this.next.text}; multiplication is written *.`, this.next.at);
    }
    throw this.unexpected("An operator is expected");
  }

  private logic(): Expr {
    if (++this.depth > DEEPEST) throw new FormulaError("The expression is nested too deeply.", this.next.at);
    let left = this.comparison();
    for (;;) {
      const sign = this.next.text;
      if (sign !== "and" && sign !== "or") break;
      this.position++;
      const right = this.comparison();
      left = { type: "logic", sign, left, right, at: [outerSpan(left)[0], outerSpan(right)[1]] };
    }
    this.depth--;
    return left;
  }

  private comparison(): Expr {
    if (this.next.text === "not") {
      const start = this.next.at[0];
      this.position++;
      const operand = this.comparison();
      return { type: "not", operand, at: [start, outerSpan(operand)[1]] };
    }
    const left = this.sum(0);
    const sign = this.next.text;
    if (!COMPARISONS.includes(sign)) return left;
    this.position++;
    const right = this.sum(0);
    return { type: "compare", sign, left, right, at: [outerSpan(left)[0], outerSpan(right)[1]] };
  }

  /** Everything that binds tighter than `level`. */
  private sum(level: number): Expr {
    let left = this.prefix();
    for (;;) {
      const sign = this.next.text;
      const own = this.next.kind === "sign" ? LEVEL[sign] : undefined;
      if (own === undefined || own <= level) return left;
      this.position++;
      const right = this.sum(sign === "**" ? own - 2 : own);
      left = { type: "binary", sign, left, right, at: [outerSpan(left)[0], outerSpan(right)[1]] };
    }
  }

  private prefix(): Expr {
    const start = this.next.at[0];
    if (this.take("+")) return this.sum(MINUS_LEVEL - 1);
    if (this.take("-")) {
      if (++this.depth > DEEPEST) throw new FormulaError("The expression is nested too deeply.", this.next.at);
      const operand = this.sum(MINUS_LEVEL - 1);
      this.depth--;
      return { type: "minus", operand, at: [start, outerSpan(operand)[1]] };
    }
    return this.atom();
  }

  private atom(): Expr {
    const token = this.next;
    if (token.kind === "number") {
      this.position++;
      return { type: "number", value: Number(token.text), at: token.at };
    }
    if (token.kind === "name") {
      this.position++;
      return this.take("(") ? this.call(token) : { type: "name", name: token.text, at: token.at };
    }
    if (this.take("(")) {
      const inner = this.logic();
      this.expect(")");
      return { ...inner, outer: [token.at[0], this.all[this.position - 1].at[1]] };
    }
    throw this.unexpected("A number, a name or a parenthesis is expected");
  }

  private call(name: Token): Expr {
    const operands: Expr[] = [];
    let split = 0;
    while (!this.take(")")) {
      if (operands.length && !this.take(",")) throw this.unexpected("“)” or “,” is expected");
      if (this.take("[")) {
        while (!this.take("]")) {
          if (operands.length > split && !this.take(",")) throw this.unexpected("A comma is expected");
          operands.push(this.logic());
        }
        split ||= operands.length;
      } else operands.push(this.logic());
    }
    const output = this.output();
    return { type: "call", name: name.text, operands, split, output, at: [name.at[0], this.all[this.position - 1].at[1]] };
  }

  private output(): number | null {
    if (!this.take("[")) return null;
    const token = this.next;
    if (token.kind !== "number" || !/^[0-9]+$/.test(token.text)) throw this.unexpected("A whole number is expected");
    this.position++;
    this.expect("]");
    return Number(token.text);
  }
}

/** The tree of an expression. Raises FormulaError, saying what is wrong and where; `from` is where `text` begins. */
export function parse(text: string, from = 0): Expr {
  return new Reader(tokens(text, from)).whole();
}

const parsed = new Map<string, Expr>();

/** As `parse`, for the formulas of the op table, each of which is read once. */
export function parseOnce(text: string): Expr {
  let tree = parsed.get(text);
  if (tree === undefined) parsed.set(text, (tree = parse(text)));
  return tree;
}
