/**
 * Typed programs: `b = a + 1; c = a * 3; b * c` with numbers for the names, recorded as Python's engine records them.
 *
 * The result is the graph that `retrograd explain` makes of the same expression, name for name.
 */

import { compare, OPERATORS } from "./conditions";
import { evaluate } from "./evaluate";
import { type Expr, FormulaError, NAME, parse, type Span } from "./formula";
import { CONSTANT, Graph, LEAF, OPERATION } from "./graph";
import { readNumber, repr } from "./numbers";
import type { Run } from "./run";
import { CALLS, NARY_ROWS, ROWS } from "./table";

/** A program and the numbers of its inputs. */
export interface Program {
  readonly text: string;
  readonly values: Readonly<Record<string, number>>;
}

/** What is to the left of the text that a name stands for. */
const ASSIGNED = new RegExp(String.raw`^\s*(${NAME})\s*=(?!=)`);

interface Statement {
  readonly name: string | null;
  readonly tree: Expr;
}

/** `b = a + 1; b * b` as statements; line ends and semicolons separate them. Raises FormulaError. */
export function readProgram(text: string): Statement[] {
  const statements: Statement[] = [];
  for (const match of text.matchAll(/[^;\n]+/g)) {
    const line = match[0];
    if (line.trim() === "") continue;
    const assignment = ASSIGNED.exec(line);
    const start = match.index + (assignment?.[0].length ?? 0);
    statements.push({ name: assignment?.[1] ?? null, tree: parse(text.slice(start, match.index + line.length), start) });
  }
  if (statements.length === 0) throw new FormulaError("Write an expression, such as (a + b) * c.", [0, text.length]);
  return statements;
}

/** Splits `a = 2` and the like off a program: assignments of plain numbers become inputs. */
export function splitInputs(text: string): Program {
  const values: Record<string, number> = {};
  const rest: string[] = [];
  for (const line of text.split(/[;\n]/)) {
    const match = ASSIGNED.exec(line);
    const number = match === null ? NaN : readNumber(line.slice(match[0].length));
    if (match !== null && (number === number || line.slice(match[0].length).trim() === "nan")) values[match[1]] = number;
    else if (line.trim() !== "") rest.push(line.trim());
  }
  return { text: rest.join("; "), values };
}

/** The names that a program needs numbers for, in order of first use. */
export function freeNames(statements: readonly Statement[]): string[] {
  const assigned = new Set<string>();
  const found = new Set<string>();
  const visit = (tree: Expr): void => {
    if (tree.type === "name" && !assigned.has(tree.name)) found.add(tree.name);
    for (const child of children(tree)) visit(child);
  };
  for (const { name, tree } of statements) {
    visit(tree);
    if (name !== null) assigned.add(name);
  }
  return [...found];
}

function children(tree: Expr): readonly Expr[] {
  switch (tree.type) {
    case "binary":
    case "logic":
    case "compare":
      return [tree.left, tree.right];
    case "minus":
    case "not":
      return [tree.operand];
    case "call":
      return tree.operands;
    default:
      return [];
  }
}

/** One recorded operation; operands are other records, or plain numbers. */
interface Recorded {
  readonly row: string;
  readonly operands: readonly Operand[];
  readonly index: number;
  readonly at: Span;
  name: string;
}
type Operand = Recorded | Leaf | Plain;
interface Leaf {
  readonly leaf: string;
}
interface Plain {
  readonly number: number;
  readonly at: Span;
}

class Recorder {
  readonly recorded: Recorded[] = [];
  private readonly known = new Map<string, Operand>();

  constructor(private readonly values: Readonly<Record<string, number>>) {}

  statement({ name, tree }: Statement): Operand {
    const result = this.record(tree);
    if (name !== null) {
      this.known.set(name, result);
      if ("row" in result && !result.name) result.name = name;
    }
    return result;
  }

  private record(tree: Expr): Operand {
    switch (tree.type) {
      case "number":
        return { number: tree.value, at: tree.at };
      case "name":
        return this.named(tree.name, tree.at);
      case "binary":
        return this.apply(OPERATORS[tree.sign], [this.record(tree.left), this.record(tree.right)], tree.at);
      case "minus":
        return this.apply("neg", [this.record(tree.operand)], tree.at);
      case "call":
        return this.call(tree);
      default:
        throw new FormulaError("A comparison stands in the first operand of where(a > b, x, y) only.", tree.at);
    }
  }

  private named(name: string, at: Span): Operand {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    if (!(name in this.values)) {
      const hint = CALLS.has(name) ? `${name} is a function: write ${name}(…)` : `A number is missing for ${name}: add ${name} = 1`;
      throw new FormulaError(`${hint}.`, at);
    }
    const leaf = { leaf: name };
    this.known.set(name, leaf);
    return leaf;
  }

  private call(tree: Expr & { type: "call" }): Operand {
    const row = CALLS.get(tree.name);
    if (row === undefined) throw new FormulaError(`There is no function ${tree.name}.`, tree.at);
    const operands = tree.operands.map((operand, slot) =>
      row === "where" && slot === 0 && operand.type === "compare" ? this.condition(operand) : this.record(operand),
    );
    const arity = ROWS.get(row)?.p.length;
    if (arity !== undefined && arity !== operands.length) {
      throw new FormulaError(`${tree.name} takes ${arity} operand${arity === 1 ? "" : "s"}, and ${operands.length} came.`, tree.at);
    }
    const nary = NARY_ROWS.get(row);
    if (nary?.paired && operands.length !== 2 * tree.split) {
      throw new FormulaError("dot takes two lists of the same length: dot([a, b], [c, d]).", tree.at);
    }
    if (nary?.empty === false && operands.length === 0) throw new FormulaError(`${tree.name} needs an operand.`, tree.at);
    if (nary?.outputs && (tree.output === null || tree.output >= operands.length)) {
      throw new FormulaError(`${tree.name} has one output for each operand: pick one, as in ${tree.name}(a, b)[0].`, tree.at);
    }
    return this.apply(row, operands, tree.at, tree.output ?? 0);
  }

  private condition(tree: Expr & { type: "compare" }): Plain {
    const [a, b] = [this.record(tree.left), this.record(tree.right)].map((operand) => this.number(operand));
    return { number: compare(tree.sign, a, b) ? 1 : 0, at: tree.at };
  }

  /** The number of an operand now: conditions decide on it. */
  private number(operand: Operand): number {
    if ("number" in operand) return operand.number;
    if ("leaf" in operand) return this.values[operand.leaf];
    const { graph, inputs } = laidOut(this.recorded, operand, this.values, "", "");
    return evaluate(graph, inputs).data[graph.root];
  }

  private apply(row: string, operands: readonly Operand[], at: Span, index = 0): Operand {
    const plain = operands.filter((operand): operand is Plain => "number" in operand);
    const fixed = ROWS.get(row);
    if (plain.length === operands.length && fixed !== undefined) return { number: fixed.f(...plain.map((k) => k.number)), at };
    for (const slot of fixed?.static ?? []) {
      if (!("number" in operands[slot])) throw new FormulaError("This operand must be a plain number.", at);
    }
    // As in Python, where 3 * a is a's own multiplication by 3.
    const swapped = (row === "add" || row === "mul") && "number" in operands[0];
    const node: Recorded = { row, operands: swapped ? [operands[1], operands[0]] : operands, index, at, name: "" };
    this.recorded.push(node);
    return node;
  }
}

/** The run of a program at its numbers. Raises FormulaError or DomainProblem. */
export function runProgram(program: Program): Run {
  const statements = readProgram(program.text);
  const recorder = new Recorder(program.values);
  let root: Operand = { number: 0, at: [0, 0] };
  for (const statement of statements) root = recorder.statement(statement);
  if (!("row" in root)) {
    const { at } = statements[statements.length - 1].tree;
    const what = program.text.slice(...at);
    const why = "leaf" in root ? `“${what}” is an input, and nothing is computed from it` : `“${what}” is computed from numbers alone, so that it has no gradient`;
    throw new FormulaError(`${why}. End with an expression of your inputs, such as ${"leaf" in root ? `${what} * ${what}` : "2 * a"}.`, at);
  }
  const title = program.text.split(/\s+/).join(" ").trim();
  const { graph, inputs } = laidOut(recorder.recorded, root, program.values, title, program.text);
  return evaluate(graph, inputs);
}

/** The graph under `root`, named and numbered as Python does: the leaves, then each operation after its constants. */
function laidOut(
  recorded: readonly Recorded[],
  root: Recorded,
  values: Readonly<Record<string, number>>,
  title: string,
  text: string,
): { graph: Graph; inputs: Float64Array } {
  const operations = reachable(recorded, root);
  const used = new Set(operations.flatMap((node) => node.operands.flatMap((k) => ("leaf" in k ? [k.leaf] : []))));
  const leaves = Object.keys(values).filter((name) => used.has(name));
  const names = [...leaves];
  const kinds = leaves.map(() => LEAF);
  const data = leaves.map((name) => values[name]);
  const rows = leaves.map(() => "");
  const ops = leaves.map(() => "");
  const expression = [...leaves];
  const ids = new Map<Recorded | string, number>(leaves.map((name, id) => [name, id]));
  const [from, to, slots]: [number[], number[], number[]] = [[], [], []];
  const named = withNames(operations, root, leaves);
  for (const node of operations) {
    const operands = node.operands.map((operand) => {
      if (!("number" in operand)) return ids.get("leaf" in operand ? operand.leaf : operand) ?? 0;
      names.push(repr(operand.number));
      kinds.push(CONSTANT);
      data.push(operand.number);
      rows.push("");
      ops.push("");
      expression.push(text.slice(...operand.at));
      return names.length - 1;
    });
    const id = names.length;
    operands.forEach((operand, slot) => {
      from.push(operand);
      to.push(id);
      slots.push(slot);
    });
    ids.set(node, id);
    names.push(named.get(node) ?? "");
    kinds.push(OPERATION);
    data.push(0);
    rows.push(node.row);
    ops.push(label(node));
    expression.push(text.slice(...node.at));
  }
  const graph = new Graph({
    title,
    engine: "page",
    root: ids.get(root) ?? 0,
    names,
    kinds: Uint8Array.from(kinds),
    rows,
    ops,
    sources: names.map(() => null),
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    slots: Int32Array.from(slots),
    outputs: new Map(operations.filter((node) => node.index).map((node) => [ids.get(node) ?? 0, node.index] as const)),
    written: { expression },
  });
  return { graph, inputs: Float64Array.from(data) };
}

/** What `_op` shows: a power's constant exponent or base with it. */
function label(node: Recorded): string {
  const symbol = ROWS.get(node.row)?.symbol ?? node.row;
  if (node.row !== "pow") return symbol;
  const [base, exponent] = node.operands.map((k) => ("number" in k ? repr(k.number).replace(/\.0$/, "") : ""));
  return `${base}**${exponent}`;
}

function reachable(recorded: readonly Recorded[], root: Recorded): Recorded[] {
  const wanted = new Set<Operand>([root]);
  return [...recorded]
    .reverse()
    .filter((node) => {
      if (!wanted.has(node)) return false;
      for (const operand of node.operands) wanted.add(operand);
      return true;
    })
    .reverse();
}

/** A name for every operation: the assigned one, L for the result, the letters left over for the others. */
function withNames(operations: readonly Recorded[], root: Recorded, leaves: readonly string[]): Map<Recorded, string> {
  const counts = new Map<string, number>();
  const unique = (name: string): string => {
    let result = name;
    while (counts.has(result)) {
      counts.set(name, (counts.get(name) ?? 1) + 1);
      result = `${name}_${counts.get(name) ?? 2}`;
    }
    counts.set(result, 1);
    return result;
  };
  leaves.forEach(unique);
  const named = new Map(operations.filter((node) => node.name).map((node) => [node, unique(node.name)] as const));
  const taken = new Set([...leaves, "L", ...named.values()]);
  const letters = unusedNames(taken);
  if (!named.has(root)) named.set(root, [...leaves, ...named.values()].includes("L") ? letters.next().value : "L");
  for (const node of operations) if (!named.has(node)) named.set(node, letters.next().value);
  return named;
}

/** The single letters not taken, in order and without l, then v1, v2, … */
function* unusedNames(taken: ReadonlySet<string>): Generator<string, string> {
  for (const letter of "abcdefghijkmnopqrstuvwxyz") if (!taken.has(letter)) yield letter;
  for (let number = 1; ; number++) if (!taken.has(`v${number}`)) yield `v${number}`;
}
