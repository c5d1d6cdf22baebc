/**
 * How a node and its local derivatives are written: in symbols (`f.data`), as `retrograd explain` writes them.
 *
 * A choice such as `select(a <= 0, 0, 1)` is written as the side that was taken, for that is what the pass computed.
 */

import { NARY, OPS } from "../../ops.gen";
import { type Expr, parseOnce } from "./formula";
import { repr } from "./numbers";
import type { NaryOp, Op } from "./table";

/** The rows of the op table by name. */
export const ROWS: ReadonlyMap<string, Op> = new Map(OPS.map((row) => [row.name, row]));
export const NARY_ROWS: ReadonlyMap<string, NaryOp> = new Map(NARY.map((row) => [row.name, row]));

/** What a formula needs to know of an operand, or of the result. */
export interface Operand {
  readonly name: string;
  readonly data: number;
  readonly constant: boolean;
}

export const INFIX: Readonly<Record<string, string>> = {
  add: "+",
  sub: "-",
  mul: "*",
  div: "/",
  mod: "%",
  floordiv: "//",
  pow: "**",
};
const SUM = 1;
const PRODUCT = 2;
const MINUS = 3;
const POWER = 4;
const ATOM = 5;
const LEVEL: Readonly<Record<string, number>> = { "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT, "//": PRODUCT, "**": POWER };
const CONSTANTS: Readonly<Record<string, readonly [string, number, number]>> = {
  inf: ["inf", ATOM, Infinity],
  nan: ["nan", ATOM, NaN],
  LN2: ["log(2.0)", ATOM, Math.LN2],
  INV_LN2: ["1.0 / log(2.0)", PRODUCT, Math.LOG2E],
  INV_LN10: ["1.0 / log(10.0)", PRODUCT, Math.LOG10E],
  SQRT_HALF: ["sqrt(0.5)", ATOM, Math.SQRT1_2],
  INV_SQRT_2PI: ["1.0 / sqrt(2.0 * pi)", PRODUCT, 0.3989422804014327],
  TWO_OVER_SQRT_PI: ["2.0 / sqrt(pi)", PRODUCT, 1.1283791670955126],
  DEGREE: ["pi / 180.0", PRODUCT, Math.PI / 180],
  RADIAN: ["180.0 / pi", PRODUCT, 180 / Math.PI],
};
/** From this many operands on, an n-ary formula is abridged. */
const MANY = 6;

/** How a node was computed: `a * b`, `tanh(n)`, `dot([a, b], [c, d])`. `label` names a user-made node. */
export function formulaText(row: string, label: string, operands: readonly string[], index: number): string {
  const sign = INFIX[row] ?? (row === "user" && label in LEVEL ? label : undefined);
  let first = operands[0] ?? "";
  if (sign === "**" || (row === "user" && label.startsWith("**"))) first = first.startsWith("-") ? `(${first})` : first;
  if (sign !== undefined && operands.length === 2) return `${first} ${sign} ${operands[1]}`;
  if (row === "user" && operands.length === 1 && /^\*\*-?[0-9.]+$/.test(label)) return first + label;
  if (row === "neg") return operands[0].startsWith("-") ? `-(${operands[0]})` : `-${operands[0]}`;
  if (row === "dot") {
    const half = operands.length / 2;
    return `dot([${operands.slice(0, half).join(", ")}], [${operands.slice(half).join(", ")}])`;
  }
  const call = `${row === "user" ? label || "user" : row}(${operands.join(", ")})`;
  return row === "softmax" ? `${call}[${index}]` : call;
}

/** One local derivative in symbols, fit to be a factor: `b.data`. */
export function derivativeText(row: string, operands: readonly Operand[], result: Operand, slot: number, local: number): string {
  const partial = partialOf(row, operands, result, slot, local);
  if (partial === null) return repr(local);
  const [text, level] = written(parseOnce(partial.text), partial.around);
  return level >= PRODUCT ? text : `(${text})`;
}

export interface PartialFormula {
  /** The formula, from the op table. */
  readonly text: string;
  /** What its variables stand for. */
  readonly around: ReadonlyMap<string, Operand>;
}

/** The formula of one slot's partial; null for a user-made node. */
export function partialOf(
  row: string,
  operands: readonly Operand[],
  result: Operand,
  slot: number,
  local: number,
): PartialFormula | null {
  const fixed = ROWS.get(row);
  if (fixed !== undefined) {
    const around = new Map(operands.map((operand, k) => ["abc"[k], operand] as const));
    return { text: fixed.partials[slot], around: around.set("y", result) };
  }
  const nary = NARY_ROWS.get(row);
  return nary === undefined ? null : naryPartial(nary, operands, result, slot, local);
}

function naryPartial(
  row: NaryOp,
  operands: readonly Operand[],
  result: Operand,
  slot: number,
  local: number,
): PartialFormula {
  const number = (name: string, data: number): Operand => ({ name, data, constant: true });
  if (row.name === "prod" && operands.length > 1 && operands.length < MANY) {
    const others = operands.map((operand, k) => [`x${k}`, operand] as const).filter((_, k) => k !== slot);
    return { text: others.map(([name]) => name).join(" * "), around: new Map(others) };
  }
  if (row.name === "logsumexp" && Number.isFinite(result.data)) {
    const difference = operands[slot].data - result.data;
    const share = Math.exp(difference);
    if (difference < 1 && Math.abs(share - local) <= Math.max(1e-9 * Math.max(Math.abs(share), Math.abs(local)), 1e-300)) {
      return { text: "exp(a - y)", around: new Map([["a", operands[slot]], ["y", result]]) };
    }
    return { text: "rest", around: new Map([["rest", number("rest", local)]]) };
  }
  const half = row.paired ? operands.length / 2 : operands.length;
  const position = slot % half;
  const around = new Map<string, Operand>([["y", result], ["a", operands[position]]]);
  if (row.paired) around.set("b", operands[half + position]);
  around.set("n", number("n", operands.length));
  around.set("ties", number("ties", operands.filter((operand) => operand.data === result.data).length));
  around.set("rest", number("rest", row.name === "softmax" ? local / result.data : local));
  return { text: row.partials[Math.floor(slot / half)], around };
}

/** The text of a formula, and how tightly it binds. */
function written(tree: Expr, around: ReadonlyMap<string, Operand>): readonly [string, number] {
  switch (tree.type) {
    case "number":
      return [repr(tree.value), ATOM];
    case "name": {
      const operand = around.get(tree.name);
      if (operand === undefined) return [CONSTANTS[tree.name][0], CONSTANTS[tree.name][1]];
      const text = operand.constant ? repr(operand.data) : `${operand.name}.data`;
      return [text, operand.constant && text.startsWith("-") ? MINUS : ATOM];
    }
    case "binary":
      return binary(tree.sign, tree.left, tree.right, around);
    case "minus": {
      const [text, level] = written(tree.operand, around);
      const plain = level > PRODUCT || (level === PRODUCT && !text.includes("//") && !text.includes("%"));
      return [plain && !text.startsWith("-") ? `-${text}` : `-(${text})`, MINUS];
    }
    case "call":
      return call(tree.name, tree.operands, around);
    default:
      return ["", ATOM];
  }
}

function call(name: string, operands: readonly Expr[], around: ReadonlyMap<string, Operand>): readonly [string, number] {
  if (name === "select") return written(truth(operands[0], around) ? operands[1] : operands[2], around);
  if (name === "zero_product") {
    const first = written(operands[0], around)[0];
    return first === "0.0" || first === "-0.0" ? ["0.0", ATOM] : binary("*", operands[0], operands[1], around);
  }
  if (name === "pow" || name === "mod" || name === "floordiv") return binary(INFIX[name], operands[0], operands[1], around);
  return [`${name}(${operands.map((operand) => written(operand, around)[0]).join(", ")})`, ATOM];
}

function binary(sign: string, left: Expr, right: Expr, around: ReadonlyMap<string, Operand>): readonly [string, number] {
  const [a, aLevel] = written(left, around);
  const [b, bLevel] = written(right, around);
  if ("+-*".includes(sign) && isNumber(a) && isNumber(b)) {
    const [x, y] = [Number(a), Number(b)];
    const number = sign === "+" ? x + y : sign === "-" ? x - y : x * y;
    return [repr(number), number < 0 ? MINUS : ATOM];
  }
  if ((sign === "**" || sign === "/") && b === "1.0") return [a, aLevel];
  const level = LEVEL[sign];
  const aEnough = sign === "**" ? aLevel > level : aLevel >= level;
  const bEnough = sign === "**" ? bLevel >= MINUS : bLevel > level;
  return [`${aEnough ? a : `(${a})`} ${sign} ${bEnough ? b : `(${b})`}`, level];
}

function isNumber(text: string): boolean {
  return /^-?[0-9.]+(e[-+]?[0-9]+)?$/.test(text);
}

/** Whether a condition holds for the numbers. */
export function truth(tree: Expr, around: ReadonlyMap<string, Operand>): boolean {
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
function value(tree: Expr, around: ReadonlyMap<string, Operand>): number {
  switch (tree.type) {
    case "number":
      return tree.value;
    case "name":
      return around.get(tree.name)?.data ?? CONSTANTS[tree.name][2];
    case "minus":
      return -value(tree.operand, around);
    case "binary": {
      const row = Object.keys(INFIX).find((name) => INFIX[name] === tree.sign) ?? "";
      return ROWS.get(row)?.f(value(tree.left, around), value(tree.right, around)) ?? NaN;
    }
    case "call":
      return ROWS.get(tree.name)?.f(...tree.operands.map((operand) => value(operand, around))) ?? NaN;
    default:
      return NaN;
  }
}
