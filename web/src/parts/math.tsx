/** Formulas as MathML: fractions, roots and powers as people write them, whose names can be clicked. */

import type { ComponentChildren, JSX } from "preact";
import type { Expr } from "../model/formula";

const SIGNS: Readonly<Record<string, string>> = { "*": "·", "-": "−", "%": "mod", "//": "÷", "<=": "≤", ">=": "≥", "==": "=", "!=": "≠" };
const CONSTANTS: Readonly<Record<string, string>> = { inf: "∞", pi: "π" };
const SHORT: Readonly<Record<string, string>> = { log: "ln", maximum: "max", minimum: "min", digamma: "ψ" };
const SUM = 1;
const PRODUCT = 2;
const ATOM = 3;

/** What stands for a name: any MathML, clickable or not. */
export type Names = (name: string) => JSX.Element | null;

export function Maths({ children }: { children: ComponentChildren }): JSX.Element {
  return <math display="inline">{children}</math>;
}

export function formulaMaths(tree: Expr, names: Names): JSX.Element {
  return draw(tree, names)[0];
}

function draw(tree: Expr, names: Names): readonly [JSX.Element, number] {
  const side = (child: Expr, level: number): JSX.Element => {
    const [element, own] = draw(child, names);
    return own >= level ? element : <mrow><mo>(</mo>{element}<mo>)</mo></mrow>;
  };
  switch (tree.type) {
    case "number":
      return [<mn>{tree.value}</mn>, ATOM];
    case "name":
      return [names(tree.name) ?? <mi>{CONSTANTS[tree.name] ?? tree.name}</mi>, ATOM];
    case "binary": {
      if (tree.sign === "/") return [<mfrac>{draw(tree.left, names)[0]}{draw(tree.right, names)[0]}</mfrac>, ATOM];
      if (tree.sign === "**") return [<msup>{side(tree.left, ATOM)}{draw(tree.right, names)[0]}</msup>, PRODUCT];
      const level = tree.sign === "+" || tree.sign === "-" ? SUM : PRODUCT;
      const right = tree.sign === "-" ? PRODUCT : level;
      return [<mrow>{side(tree.left, level)}<mo>{SIGNS[tree.sign] ?? tree.sign}</mo>{side(tree.right, right)}</mrow>, level];
    }
    case "minus":
      return [<mrow><mo>−</mo>{side(tree.operand, PRODUCT)}</mrow>, SUM];
    case "not":
      return [<mrow><mo>¬</mo>{side(tree.operand, ATOM)}</mrow>, PRODUCT];
    case "logic":
    case "compare":
      return [<mrow>{draw(tree.left, names)[0]}<mo>{SIGNS[tree.sign] ?? ` ${tree.sign} `}</mo>{draw(tree.right, names)[0]}</mrow>, SUM];
    case "call":
      return [call(tree, names, side), tree.name === "zero_product" ? PRODUCT : ATOM];
  }
}

function call(tree: Expr & { type: "call" }, names: Names, side: (child: Expr, level: number) => JSX.Element): JSX.Element {
  const operands = tree.operands.map((operand) => draw(operand, names)[0]);
  const [a, b] = operands;
  switch (tree.name) {
    case "select":
      return cases(tree, names);
    case "sqrt":
      return <msqrt>{a}</msqrt>;
    case "cbrt":
      return <mroot>{a}<mn>3</mn></mroot>;
    case "exp":
      return <msup><mi>e</mi>{a}</msup>;
    case "pow": {
      const [base, exponent] = tree.operands;
      // tanh²(n), as a textbook has it.
      if (base.type === "call" && exponent.type === "number" && base.operands.length === 1 && /^(tanh|tan|sin|cos)$/.test(base.name)) {
        return <mrow><msup><mi>{base.name}</mi>{b}</msup><mo>(</mo>{draw(base.operands[0], names)[0]}<mo>)</mo></mrow>;
      }
      return <msup>{side(base, ATOM)}{b}</msup>;
    }
    case "abs":
      return <mrow><mo>|</mo>{a}<mo>|</mo></mrow>;
    case "reciprocal":
      return <mfrac><mn>1</mn>{a}</mfrac>;
    case "zero_product":
      return <mrow>{side(tree.operands[0], PRODUCT)}<mo>·</mo>{side(tree.operands[1], PRODUCT)}</mrow>;
    case "sigmoid":
      return <mrow><mi>σ</mi><mo>(</mo>{a}<mo>)</mo></mrow>;
    default:
      return (
        <mrow>
          <mi>{SHORT[tree.name] ?? tree.name}</mi>
          <mo>(</mo>
          {operands.map((operand, k) => (k === 0 ? operand : [<mo key={k}>,</mo>, operand]))}
          <mo>)</mo>
        </mrow>
      );
  }
}

function cases(tree: Expr & { type: "call" }, names: Names): JSX.Element {
  const [condition, yes, no] = tree.operands.map((operand) => draw(operand, names)[0]);
  return (
    <mrow>
      <mo>{"{"}</mo>
      <mtable columnalign="left">
        <mtr><mtd>{yes}</mtd><mtd><mtext> if </mtext>{condition}</mtd></mtr>
        <mtr><mtd>{no}</mtd><mtd><mtext> otherwise</mtext></mtd></mtr>
      </mtable>
    </mrow>
  );
}

/** ∂y/∂a */
export function Derivative({ of, by }: { of: string; by: string }): JSX.Element {
  return (
    <mfrac>
      <mrow><mo>∂</mo><mi>{of}</mi></mrow>
      <mrow><mo>∂</mo><mi>{by}</mi></mrow>
    </mfrac>
  );
}
