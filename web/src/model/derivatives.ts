/** How a node and its local derivatives are written, as `retrograd explain` writes them (see trace/derivative_text.py). */

import { ATOM, INFIX, LATEX, MANY, PRODUCT, SEQUENCES, TEXT, TEXTBOOK } from "../../ops.gen";
import { truth } from "./conditions";
import { parseOnce } from "./formula";
import { fill, form, signed, write } from "./notation";
import { general, repr } from "./numbers";
import { NARY_ROWS, type NaryOp, ROWS } from "./table";

/** What a formula needs to know of an operand, or of the result. */
export interface Operand {
  readonly name: string;
  readonly data: number;
  readonly constant: boolean;
}

/** How a node was computed: `a * b`, `tanh(n)`, `dot([a, b], [c, d])`. `label` names a user-made node. */
export function formulaText(row: string, label: string, operands: readonly string[], index: number): string {
  const key = INFIX[row] ?? (row === "user" && !/^\w/.test(label) ? label : "");
  if (key in TEXT.forms && operands.length === (key === "minus" ? 1 : 2)) return form(TEXT, key, operands.map(signed))[0];
  if (row === "user" && operands.length === 1 && /^\*\*-?[0-9.]+$/.test(label)) {
    return form(TEXT, "**", [signed(operands[0]), ["", ATOM]])[0].replace(" ** ", label);
  }
  if (row === "dot") {
    const half = operands.length / 2;
    return `dot([${operands.slice(0, half).join(", ")}], [${operands.slice(half).join(", ")}])`;
  }
  const call = `${row === "user" ? label || "user" : row}(${operands.join(", ")})`;
  return row === "softmax" ? `${call}[${index}]` : call;
}

/** The right-hand side of a node in LaTeX. */
export function formulaLatex(row: string, label: string, operands: readonly Operand[], index: number): string {
  const names = operands.map(operandLatex);
  if (ROWS.has(row)) return form(LATEX, row, names.map((name) => [name, ATOM]))[0];
  if (row in SEQUENCES) {
    const [term, between, none] = SEQUENCES[row];
    const half = names.length / 2;
    const terms = row === "dot" ? names.slice(0, half).map((a, k) => [a, names[half + k]]) : names.map((a) => [a]);
    return abridged(terms.map((own) => fill(term, own))).join(between) || none;
  }
  const name = row === "user" ? latexName(label || "user") : `\\mathrm{${row}}`;
  const text = `${name}\\left(${abridged(names).join(", ")}\\right)`;
  return row === "softmax" ? `${text}_{${index}}` : text;
}

function abridged(parts: readonly string[]): string[] {
  return parts.length < MANY ? [...parts] : [parts[0], parts[1], "\\ldots", parts[parts.length - 1]];
}

/** LaTeX for a name: `x1` is x with an index, longer names are set upright. */
function latexName(name: string): string {
  const match = /^([A-Za-z]+)(?:\[(\d+)\]|_?(\d+))$/.exec(name);
  if (match !== null) {
    const stem = match[1].length === 1 ? match[1] : `\\mathrm{${match[1]}}`;
    return `${stem}_{${match[2] ?? match[3]}}`;
  }
  if (/^\p{L}$/u.test(name)) return name;
  const harmless = [...name].map((c) => (/[\p{L}\p{N}_ .,'()[\]/+=:-]/u.test(c) ? c : ".")).join("");
  return `\\mathrm{${harmless.replace(/_/g, "\\_")}}`;
}

export function operandLatex(operand: Operand): string {
  if (!operand.constant) return latexName(operand.name);
  const shown = general(operand.data).replace("inf", "\\infty").replace("nan", "\\mathrm{NaN}");
  return shown.startsWith("-") ? `(${shown})` : shown;
}

/** One local derivative in symbols, fit to be a factor: `b.data`. */
export function derivativeText(row: string, operands: readonly Operand[], result: Operand, slot: number, local: number): string {
  const partial = partialOf(row, operands, result, slot, local);
  if (partial === null) return repr(local);
  const { around } = partial;
  const names = new Map([...around].map(([name, { constant, data, name: own }]) => [name, constant ? signed(repr(data)) : ([`${own}.data`, ATOM] as const)]));
  const [text, level] = write(parseOnce(partial.text), TEXT, names, (tree) => truth(tree, around));
  return level >= PRODUCT ? text : fill(TEXT.wrap, [text]);
}

/** The whole rule: `\frac{\partial d}{\partial a} = b`. */
export function derivativeLatex(row: string, operands: readonly Operand[], result: Operand, slot: number, local: number): string {
  const left = `\\frac{\\partial ${operandLatex(result)}}{\\partial ${operandLatex(operands[slot])}}`;
  const partial = partialOf(row, operands, result, slot, local);
  if (partial === null) return `${left} = ${general(local)}`;
  const names = new Map([...partial.around].map(([name, operand]) => [name, [operandLatex(operand), ATOM] as const]));
  return `${left} = ${write(parseOnce(partial.text), LATEX, names)[0]}`;
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
    return { text: (TEXTBOOK[row]?.[1] ?? fixed.partials)[slot], around: around.set("y", result) };
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
