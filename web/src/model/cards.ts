/** Rules as a textbook prints them: `o = tanh(n)`, and what each operand gets of the upstream gradient G (see ops/textbook.py). */

import { ATOM, CARD, MINUS, PRODUCT, SEQUENCE_CARDS, TEXTBOOK } from "../../ops.gen";
import { type Expr, parseOnce } from "./formula";
import { fill, signed, write, type Written } from "./notation";
import { NARY_ROWS, ROWS } from "./table";

/** The names of the operands, and of the result. */
export interface Names {
  readonly operands: readonly string[];
  readonly result: string;
}

/** `o = tanh(n)`; empty for what has no formula. */
export function law(row: string, names: Names): string {
  const fixed = ROWS.get(row);
  return fixed === undefined ? "" : `${names.result} = ${raised(written(parseOnce(TEXTBOOK[row]?.[0] ?? fixed.forward), names)[0])}`;
}

/** What an operand gets: `(1 − tanh²(n)) × G`, `G, unchanged`, `nothing if n ≤ 0, else G`. */
export function share(row: string, slot: number, names: Names): string {
  const fixed = ROWS.get(row);
  if (fixed === undefined) return "";
  const text = raised(shareOf(parseOnce((TEXTBOOK[row]?.[1] ?? fixed.partials)[slot]), names));
  return text === "G" ? "G, unchanged" : text;
}

/** The same for an operation over a sequence, in one sentence. */
export function sequenceShare(row: string): string {
  return NARY_ROWS.has(row) ? SEQUENCE_CARDS[row] : "";
}

function shareOf(tree: Expr, names: Names): string {
  if (tree.type === "call" && tree.name === "select") {
    const [condition, yes, no] = tree.operands;
    return `${shareOf(yes, names)} if ${written(condition, names)[0]}, else ${shareOf(no, names)}`;
  }
  const [text, level] = written(tree, names);
  if (text === "0") return "nothing";
  if (text === "1") return "G";
  if (text === `${MINUS_SIGN}1`) return `${MINUS_SIGN}G`;
  if (text === "undefined") return "nothing: it is a plain number";
  return fill(CARD.forms["*"][0], [level < PRODUCT || level === MINUS ? fill(CARD.wrap, [text]) : text, "G"]);
}

const MINUS_SIGN = "\u2212";

function written(tree: Expr, { operands, result }: Names): Written {
  const around = new Map(operands.slice(0, 3).map((name, k) => ["abc"[k], signed(name)] as const)).set("y", [result, ATOM]);
  return write(tree, CARD, around);
}

const ABOVE: Readonly<Record<string, string>> = { "2": "\u00b2", "3": "\u00b3" };

/** Whole powers above the line: `n^2` as n², and `tanh(n)^2` as tanh²(n). */
function raised(text: string): string {
  return text
    .replace(/(\p{L}+)(\([^()]*\))\^([23])(?![\d.])/gu, (_, name: string, inside: string, power: string) => `${name}${ABOVE[power]}${inside}`)
    .replace(/\^([23])(?![\d.])/g, (_, power: string) => ABOVE[power]);
}
