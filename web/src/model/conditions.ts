/** Decides the conditions of formulas, such as `abs(y) < 0.7072`, by the numbers of a run. */

import { CONSTANTS, INFIX } from "../../ops.gen";
import type { Expr } from "./formula";
import { ROWS } from "./table";

/** The row of the op table for each operator. */
export const OPERATORS: Readonly<Record<string, string>> = Object.fromEntries(Object.entries(INFIX).map(([row, sign]) => [sign, row]));

/** The numbers that the names of a formula stand for. */
type Numbers = ReadonlyMap<string, { readonly data: number }>;

/** Whether a condition holds for the numbers. */
export function truth(tree: Expr, around: Numbers): boolean {
  if (tree.type === "not") return !truth(tree.operand, around);
  if (tree.type === "logic") {
    const left = truth(tree.left, around);
    return tree.sign === "and" ? left && truth(tree.right, around) : left || truth(tree.right, around);
  }
  if (tree.type !== "compare") return value(tree, around) !== 0;
  return compare(tree.sign, value(tree.left, around), value(tree.right, around));
}

export function compare(sign: string, a: number, b: number): boolean {
  switch (sign) {
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
    case "==":
      return a === b;
    default:
      return a !== b;
  }
}

/** The number of a formula of the op table. */
function value(tree: Expr, around: Numbers): number {
  switch (tree.type) {
    case "number":
      return tree.value;
    case "name":
      return around.get(tree.name)?.data ?? CONSTANTS[tree.name];
    case "minus":
      return -value(tree.operand, around);
    case "binary": {
      return ROWS.get(OPERATORS[tree.sign])?.f(value(tree.left, around), value(tree.right, around)) ?? NaN;
    }
    case "call":
      return ROWS.get(tree.name)?.f(...tree.operands.map((operand) => value(operand, around))) ?? NaN;
    default:
      return NaN;
  }
}
