/** Writes formulas as `retrograd explain` does, in a style of `ops.gen.ts`: as text, or in LaTeX (see trace/notation.py). */

import { ATOM, INFIX, MINUS } from "../../ops.gen";
import type { Expr } from "./formula";
import { general, repr } from "./numbers";
import type { Style } from "./table";

/** A text and how tightly it binds. */
export type Written = readonly [text: string, level: number];

/** A template with `$0`, `$1`, … replaced by the operands, `$*` by all of them, and `$name` by a named part. */
export function fill(template: string, operands: readonly string[], parts: Readonly<Record<string, string | number>> = {}): string {
  return template.replace(/\$(\w+|\*)/g, (_, hole: string) => String(hole === "*" ? operands.join(", ") : (operands[Number(hole)] ?? parts[hole])));
}

/** A name or a number; a sign before it binds less tightly. */
export function signed(text: string): Written {
  return [text, text.startsWith("-") ? MINUS : ATOM];
}

/** An operator or a function of these operands; `key` is a sign or a row of the op table. */
export function form(style: Style, key: string, operands: readonly Written[]): Written {
  const ownKey = key in style.forms ? key : (INFIX[key] ?? key);
  const [template, level, needs] = style.forms[ownKey] ?? [style.call, ATOM, []];
  const texts = operands.map(([text, own], slot) => {
    const twice = ownKey === "minus" && text.startsWith("-");
    return twice || own < (needs[slot] ?? 0) ? fill(style.wrap, [text]) : text;
  });
  return [fill(template, texts, { f: key }), level];
}

/**
 * A formula of the op table, its operands written as `names` says.
 *
 * With `holds`, which decides a condition, it is written as it was computed: of every choice the side that was taken,
 * and arithmetic on plain numbers as its result.
 */
export function write(tree: Expr, style: Style, names: ReadonlyMap<string, Written>, holds?: (tree: Expr) => boolean): Written {
  if (tree.type === "number") return [style.exact ? repr(tree.value) : general(tree.value), ATOM];
  if (tree.type === "name") return names.get(tree.name) ?? style.constants[tree.name];
  const [key, children] = parts(tree);
  if (holds && key === "select") return write(children[holds(children[0]) ? 1 : 2], style, names, holds);
  const operands = children.map((child) => write(child, style, names, holds));
  return (holds && simplified(key, operands)) ?? form(style, key, operands);
}

/** The operator or function at the top of a formula, and its operands. */
function parts(tree: Exclude<Expr, { type: "number" | "name" }>): readonly [string, readonly Expr[]] {
  if (tree.type === "call") return [tree.name, tree.operands];
  return "operand" in tree ? [tree.type, [tree.operand]] : [tree.sign, [tree.left, tree.right]];
}

/** What becomes of arithmetic on plain numbers, and of powers and quotients by one; null for the rest. */
function simplified(key: string, operands: readonly Written[]): Written | null {
  const [first, second] = [operands[0], operands[operands.length - 1]];
  if (key === "zero_product") return /^-?0\.0$/.test(first[0]) ? ["0.0", ATOM] : simplified("*", operands);
  if ("+-*".includes(key) && isNumber(first[0]) && isNumber(second[0])) {
    const [x, y] = [Number(first[0]), Number(second[0])];
    return signed(repr(key === "+" ? x + y : key === "-" ? x - y : x * y));
  }
  return ["**", "/"].includes(INFIX[key] ?? key) && second[0] === "1.0" ? first : null;
}

function isNumber(text: string): boolean {
  return /^-?[0-9.]+(e[-+]?[0-9]+)?$/.test(text);
}
