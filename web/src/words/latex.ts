/** Formulas and local derivatives in LaTeX, as `retrograd explain` writes them. */

import { type Expr, parseOnce } from "../model/formula";
import { LEAF, OPERATION } from "../model/graph";
import type { Run } from "../model/run";
import { INFIX, NARY_ROWS, type Operand, partialOf, ROWS } from "../model/symbols";
import { about } from "./sentences";

const COMPARE: Readonly<Record<string, string>> = { "<": "<", "<=": "\\le", ">": ">", ">=": "\\ge", "==": "=", "!=": "\\ne" };
const CONSTANTS: Readonly<Record<string, string>> = {
  inf: "\\infty",
  nan: "\\mathrm{NaN}",
  LN2: "\\ln 2",
  INV_LN2: "\\frac{1}{\\ln 2}",
  INV_LN10: "\\frac{1}{\\ln 10}",
  SQRT_HALF: "\\frac{1}{\\sqrt{2}}",
  INV_SQRT_2PI: "\\frac{1}{\\sqrt{2\\pi}}",
  TWO_OVER_SQRT_PI: "\\frac{2}{\\sqrt{\\pi}}",
  DEGREE: "\\frac{\\pi}{180}",
  RADIAN: "\\frac{180}{\\pi}",
};
/** `§` and `¶` stand for the operands. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  abs: "\\left|§\\right|",
  sqrt: "\\sqrt{§}",
  cbrt: "\\sqrt[3]{§}",
  exp: "e^{§}",
  exp2: "2^{§}",
  floor: "\\lfloor § \\rfloor",
  ceil: "\\lceil § \\rceil",
  square: "\\left(§\\right)^2",
  reciprocal: "\\frac{1}{§}",
  pow: "{§}^{¶}",
  zero_product: "§ \\cdot ¶",
  digamma: "\\psi\\left(§\\right)",
  polygamma: "\\psi^{(§)}\\left(¶\\right)",
  floordiv: "\\left\\lfloor \\frac{§}{¶} \\right\\rfloor",
  sigmoid: "\\sigma\\left(§\\right)",
  log: "\\ln\\left(§\\right)",
};
const KNOWN = ["sin", "cos", "tan", "sinh", "cosh", "tanh"];
const SUM = 1;
const PRODUCT = 2;
const ATOM = 3;
/** From this many operands on, an n-ary formula is abridged. */
const MANY = 6;

/** LaTeX for a name: `x1` is x with an index, longer names are set upright. */
export function latexName(name: string): string {
  const match = /^([A-Za-z]+)(?:\[(\d+)\]|_?(\d+))$/.exec(name);
  if (match !== null) {
    const stem = match[1].length === 1 ? match[1] : `\\mathrm{${match[1]}}`;
    return `${stem}_{${match[2] ?? match[3]}}`;
  }
  if (/^\p{L}$/u.test(name)) return name;
  const harmless = [...name].map((c) => (/[\p{L}\p{N}_ .,'()[\]/+=:-]/u.test(c) ? c : ".")).join("");
  return `\\mathrm{${harmless.replace(/_/g, "\\_")}}`;
}

/** A number as C's `%g` writes it. */
export function general(x: number): string {
  if (x !== x) return "nan";
  if (Math.abs(x) === Infinity) return x > 0 ? "inf" : "-inf";
  if (x === 0) return Object.is(x, -0) ? "-0" : "0";
  const [mantissa, power] = x.toExponential(5).split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return trimmed(x.toFixed(5 - exponent));
  return `${trimmed(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function trimmed(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function operandLatex(operand: Operand): string {
  if (!operand.constant) return latexName(operand.name);
  const shown = general(operand.data).replace("inf", "\\infty").replace("nan", "\\mathrm{NaN}");
  return shown.startsWith("-") ? `(${shown})` : shown;
}

/** `d = a \cdot b`, or just the name of a leaf. */
export function nodeLatex(run: Run, node: number): string {
  const { graph } = run;
  const given = graph.written.latex?.[node];
  if (given && (run.python || graph.kinds[node] === LEAF)) return given;
  const name = operandLatex(about(run, node));
  if (graph.kinds[node] !== OPERATION) return name;
  const operands = graph.operandsOf(node).map((operand) => operandLatex(about(run, operand)));
  return `${name} = ${rightSide(graph.rows[node], graph.ops[node], operands, graph.outputIndex(node))}`;
}

function rightSide(row: string, label: string, names: readonly string[], index: number): string {
  const fixed = ROWS.get(row);
  if (fixed !== undefined) {
    const letters = [..."abc"].slice(0, fixed.p.length);
    return latex(displayTree(row, letters), new Map(letters.map((letter, k) => [letter, names[k]])))[0];
  }
  const half = names.length / 2;
  if (row === "dot") return abridged(names.slice(0, half).map((a, k) => `${a} \\cdot ${names[half + k]}`)).join(" + ") || "0";
  if (row === "sum") return abridged(names).join(" + ") || "0";
  if (row === "prod") return abridged(names).join(" \\cdot ") || "1";
  const name = NARY_ROWS.has(row) ? `\\mathrm{${row}}` : latexName(label || "user");
  const text = `${name}\\left(${abridged(names).join(", ")}\\right)`;
  return row === "softmax" ? `${text}_{${index}}` : text;
}

export function displayTree(row: string, letters: readonly string[]): Expr {
  const sign = INFIX[row] ?? "";
  if (sign.length === 1 && "+-*/".includes(sign)) return parseOnce(`a ${sign} b`);
  return parseOnce(row === "neg" ? "-a" : `${row}(${letters.join(", ")})`);
}

function abridged(parts: readonly string[]): string[] {
  return parts.length < MANY ? [...parts] : [parts[0], parts[1], "\\ldots", parts[parts.length - 1]];
}

/** The whole rule of an edge: `\frac{\partial d}{\partial a} = b`; empty for a constant. */
export function edgeLatex(run: Run, edge: number): string {
  const { graph } = run;
  if (!graph.isVariable(graph.from[edge])) return "";
  const given = run.python ? graph.written.edgeLatex?.[edge] : undefined;
  if (given) return given;
  const node = graph.to[edge];
  const operands = graph.operandsOf(node).map((operand) => about(run, operand));
  const result = about(run, node);
  const slot = graph.slots[edge];
  const left = `\\frac{\\partial ${operandLatex(result)}}{\\partial ${operandLatex(operands[slot])}}`;
  const partial = partialOf(graph.rows[node], operands, result, slot, run.local[edge]);
  if (partial === null) return `${left} = ${general(run.local[edge])}`;
  const names = new Map([...partial.around].map(([name, operand]) => [name, operandLatex(operand)] as const));
  return `${left} = ${latex(parseOnce(partial.text), names)[0]}`;
}

/** LaTeX of a tree, and how tightly it binds. */
function latex(tree: Expr, names: ReadonlyMap<string, string>): readonly [string, number] {
  const side = (child: Expr, level: number): string => {
    const [text, own] = latex(child, names);
    return own >= level ? text : `\\left(${text}\\right)`;
  };
  switch (tree.type) {
    case "number":
      return [general(tree.value), ATOM];
    case "name":
      return [names.get(tree.name) ?? CONSTANTS[tree.name] ?? tree.name, ATOM];
    case "binary":
      if (tree.sign === "/") return [`\\frac{${latex(tree.left, names)[0]}}{${latex(tree.right, names)[0]}}`, ATOM];
      if (tree.sign === "*") return [`${side(tree.left, PRODUCT)} \\cdot ${side(tree.right, PRODUCT)}`, PRODUCT];
      return [`${side(tree.left, SUM)} ${tree.sign} ${side(tree.right, tree.sign === "-" ? PRODUCT : SUM)}`, SUM];
    case "not":
      return [`\\lnot ${side(tree.operand, ATOM)}`, PRODUCT];
    case "minus":
      return [`-${side(tree.operand, PRODUCT)}`, SUM];
    case "logic":
      return [`${side(tree.left, SUM)}${tree.sign === "and" ? " \\land " : " \\lor "}${side(tree.right, SUM)}`, SUM];
    case "compare":
      return [`${latex(tree.left, names)[0]} ${COMPARE[tree.sign]} ${latex(tree.right, names)[0]}`, SUM];
    case "call":
      return callLatex(tree, names, side);
  }
}

function callLatex(
  tree: Expr & { type: "call" },
  names: ReadonlyMap<string, string>,
  side: (child: Expr, level: number) => string,
): readonly [string, number] {
  const { name, operands } = tree;
  if (name === "select") {
    const [condition, yes, no] = operands.map((operand) => latex(operand, names)[0]);
    return [`\\begin{cases} ${yes} & \\text{if } ${condition} \\\\ ${no} & \\text{otherwise} \\end{cases}`, ATOM];
  }
  const base = operands.map((operand, k) => side(operand, name === "pow" && k === 0 ? ATOM : SUM));
  const own = KNOWN.includes(name) ? `\\${name}\\left(§\\right)` : FUNCTIONS[name];
  const text =
    own === undefined
      ? `\\mathrm{${name}}\\left(${base.join(", ")}\\right)`
      : own.replace(/[§¶]/g, (mark) => base[mark === "§" ? 0 : 1]);
  return [text, name === "zero_product" ? PRODUCT : ATOM];
}

/** Every formula of a run in LaTeX, fit to be pasted: the forward pass, then the gradients. */
export function runLatex(run: Run, most = 60): string {
  const { graph } = run;
  const forward = Array.from(graph.operations).slice(0, most).map((node) => nodeLatex(run, node));
  const edges = graph.from.length <= most ? Array.from(graph.from, (_, edge) => edgeLatex(run, edge)).filter(Boolean) : [];
  return `\\begin{aligned}\n${[...forward, ...edges].map((line) => `  ${line.replace(" = ", " &= ")}`).join(" \\\\\n")}\n\\end{aligned}`;
}
