"""Write the files that follow from the op table: run as ``make generate``; ``--check`` fails when one is stale."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import json
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "retrograd"
MARK = "Generated from src/retrograd/ops/table.py by tools/generate.py (make generate). Do not edit."
DOCS_MARK = "Generated from ops/docs.py and engine/interface.py by tools/generate.py (make generate). Do not edit."


def load_table() -> None:
    """Import the table and the rules from the checkout without the engine, which may not be built."""
    for name in ("retrograd", "retrograd.engine", "retrograd.engine.reference", "retrograd.trace"):
        package = types.ModuleType(name)
        package.__path__ = [str(PACKAGE.parent.joinpath(*name.split(".")))]
        sys.modules[name] = package


load_table()
from retrograd import ops  # noqa: E402  (the packages have to be laid out first)
from retrograd.engine.reference.rules import worked_example  # noqa: E402
from retrograd.ops import docs, formula  # noqa: E402
from retrograd.ops.textbook import TEXTBOOK  # noqa: E402
from retrograd.trace import notation, sentences  # noqa: E402


def cpp(node: ast.expr | None) -> str:
    return "0.0" if node is None else formula.to_cpp(node)


def cpp_condition(node: ast.expr | None) -> str:
    return "true" if node is None else formula.to_cpp(node)


def cpp_partial(text: str, names: tuple[str, ...]) -> str:
    """The two macro arguments of a partial: where it counts, and what it is."""
    partial = formula.guarded(text, names)
    if partial.expression is None:
        return "false, 0.0"
    return f"{cpp_condition(partial.guard)}, {cpp(partial.expression)}"


#: The order of ``Tape::raise`` in native/tape/arena.hpp.
KINDS = ("divide", "over", "invalid")


def ops_inc() -> str:
    macros = (
        "RG_DIGEST",
        "RG_OP1",
        "RG_OP2",
        "RG_OP3",
        "RG_NARY",
        "RG_NAME1",
        "RG_NAME2",
        "RG_NAME3",
        "RG_NAMEN",
        "RG_STATIC",
    )
    lines = [f"// {MARK}", "// Define the macros you need, then include this file; it undefines them all."]
    for macro in macros:
        lines += [f"#ifndef {macro}", f"#define {macro}(...)", "#endif"]
    lines += ["// clang-format off", f'RG_DIGEST("{ops.digest()}")']
    for op in ops.OPS:
        names = tuple("abc"[: op.arity])
        forward = cpp(formula.parse(op.forward, names))
        if op.primitive:
            forward = forward.replace("f_", "primitive::", 1)
        domain = "0"
        for index, item in reversed(list(enumerate(op.domain))):
            code = 1 + 4 * index + KINDS.index(item.kind)
            domain = f"{cpp(formula.parse(item.when, (*names, 'y')))} ? {code} : {domain}"
        partials = ", ".join(cpp_partial(text, (*names, "y")) for text in op.partials)
        lines.append(f'RG_OP{op.arity}({op.name}, "{op.label}", ({forward}), {partials}, ({domain}))')
    for row in ops.NARY:
        step = cpp(formula.parse(row.step, ("s", "a", "b", "m")))
        finish = cpp(formula.parse(row.finish, ("s", "a", "m", "n")))
        names = formula.operand_names(row.name)
        partials = ", ".join(cpp_partial(text, names) for text in (*row.partials, "0")[:2])
        kind = "SOFTMAX" if row.outputs else "PAIRED" if row.paired else "PLAIN"
        init = cpp(formula.parse(row.init, ()))
        lines.append(f"RG_NARY({row.name}, {kind}, {str(row.empty).lower()}, {init}, ({step}), ({finish}), {partials})")
    for op in ops.OPS:
        if op.public:
            lines += [f"RG_NAME{op.arity}({name}, {op.name})" for name in (op.name, *op.aliases)]
        lines += [f"RG_STATIC({op.name}, {position})" for position in op.static]
    lines += [f"RG_NAMEN({row.name}, {row.name})" for row in ops.NARY]
    lines += ["// clang-format on", *(f"#undef {macro}" for macro in macros)]
    return "\n".join(lines) + "\n"


# --- docstrings -----------------------------------------------------------------------------------

INTERFACE = PACKAGE / "engine" / "interface.py"


def value_class() -> ast.ClassDef:
    """The class of engine/interface.py, which documents a Value."""
    for node in ast.parse(INTERFACE.read_text()).body:
        if isinstance(node, ast.ClassDef) and node.name == "Value":
            return node
    raise ValueError(f"{INTERFACE} has no class Value")


def text_signature(name: str, arguments: ast.arguments) -> str:
    """A signature as CPython reads it from the docstring of a built-in; ``self`` is ``$self``."""
    shown = ast.parse(f"def f({ast.unparse(arguments)}): pass").body[0]
    assert isinstance(shown, ast.FunctionDef)
    for argument in (*shown.args.posonlyargs, *shown.args.args, *shown.args.kwonlyargs):
        argument.annotation = None
    if len(shown.args.posonlyargs) <= 1:
        shown.args.posonlyargs, shown.args.args = shown.args.posonlyargs + shown.args.args[:1], shown.args.args[1:]
    text = ast.unparse(shown.args).replace("self", "$self", 1)
    return f"{name}({text})"


def public_names() -> list[tuple[ops.Op, str]]:
    """The rows that users call by name, with each of their names."""
    return [(op, name) for op in ops.OPS if op.public for name in (op.name, *op.aliases)]


def value_docs() -> dict[str, str]:
    """The docstrings of Value and its members by name, with a text signature before those of functions."""
    node = value_class()
    texts = {}
    for item in node.body:
        text = ast.get_docstring(item) if isinstance(item, ast.FunctionDef) else None
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            signature = text_signature("Value", item.args).replace("$self, /, ", "")
            texts["Value"] = f"{signature}\n--\n\n{ast.get_docstring(node)}"
        elif isinstance(item, ast.FunctionDef) and text:
            signature = "" if item.decorator_list else f"{text_signature(item.name, item.args)}\n--\n\n"
            texts[item.name] = signature + text
    return texts


def docs_hpp() -> str:
    functions = {
        name: f"{name}{docs.function_signature(op)}\n--\n\n{docs.function_doc(op, name, worked_example)}"
        for op, name in public_names()
    }
    functions |= {
        row.name: f"{row.name}({', '.join(docs.parameters(row))}, /)\n--\n\n{docs.nary_doc(row, worked_example)}"
        for row in ops.NARY
    }
    methods = {}
    for op, name in public_names():
        rest = "".join(f"{letter}, " for letter in docs.parameters(op)[1:])
        methods[name] = f"{name}($self, {rest}/)\n--\n\n{docs.method_doc(op, name, worked_example)}"
    lines = [
        f"// {DOCS_MARK}",
        "// The docstrings of Value and of the operations, which CPython shows to users.",
        "#pragma once",
        "",
        "#include <cstdlib>",
        "#include <string_view>",
        "",
        "// clang-format off",
        "namespace retrograd::docs {",
        "",
        "struct Doc {",
        "  std::string_view name;",
        "  const char* text;",
        "};",
        "",
        "// The docstring of that name; a name without one is an error of compilation.",
        "consteval const char* find(const auto& docs, std::string_view name) {",
        "  for (const Doc& doc : docs) {",
        "    if (doc.name == name) return doc.text;",
        "  }",
        "  std::abort();  // no constant expression: a name without a text does not compile",
        "}",
    ]
    for kind, texts in (("value", value_docs()), ("function", functions), ("method", methods)):
        lines += ["", f"inline constexpr Doc {kind.upper()}[] = {{"]
        lines += [f'{{"{name}", R"doc({text.rstrip()})doc"}},' for name, text in texts.items()]
        lines += ["};", f"consteval const char* {kind}(std::string_view name) {{ return find({kind.upper()}, name); }}"]
    return "\n".join([*lines, "", "}  // namespace retrograd::docs"]) + "\n"


# --- stubs ----------------------------------------------------------------------------------------

OPERATORS = {
    "add": ("__add__", "__radd__"),
    "sub": ("__sub__", "__rsub__"),
    "mul": ("__mul__", "__rmul__"),
    "div": ("__truediv__", "__rtruediv__"),
    "mod": ("__mod__", "__rmod__"),
    "floordiv": ("__floordiv__", "__rfloordiv__"),
}


def documented(stub: str, text: str) -> list[str]:
    """A function of a stub with its docstring, for editors to show."""
    indent = " " * (len(stub) - len(stub.lstrip()) + 4)
    lines = f'r"""{text.rstrip()}\n"""'.splitlines()
    return [stub, *(f"{indent}{line}".rstrip() for line in lines), ""]


#: What array_protocols.py gives a Value for NumPy's functions: type checkers allow ``np.sin(v)`` by it.
_TYPED_FOR_NUMPY = """
    def __array_ufunc__(
        self,
        ufunc: np.ufunc,
        method: Literal["__call__", "reduce", "reduceat", "accumulate", "outer", "at"],
        *inputs: Any,
        **kwargs: Any,
    ) -> Any: ...
""".splitlines()


def value_stub() -> list[str]:
    """The class of engine/interface.py as it stands there, but for its base."""
    node = value_class()
    lines = INTERFACE.read_text().splitlines()[node.lineno : node.end_lineno]
    return ["@disjoint_base", "class Value:", *lines, *_TYPED_FOR_NUMPY, ""]


def method_stubs() -> list[str]:
    lines = []
    for names in OPERATORS.values():
        lines += [f"    def {name}(self, other: _Number, /) -> Value: ..." for name in names]
    for op, name in public_names():
        rest = "".join(f", {letter}: _Number" for letter in docs.parameters(op)[1:])
        text = docs.method_doc(op, name, worked_example)
        lines += documented(f"    def {name}(self{rest}, /) -> Value:", text)
    return lines


def native_stub() -> str:
    template = (ROOT / "tools" / "native_stub.pyi.in").read_text()
    template = template.replace("# {MARK}", f"# {MARK}")
    return template.replace("# {VALUE}", "\n".join([*value_stub(), *method_stubs()]))


def function_stubs(op: ops.Op, name: str) -> list[str]:
    """Numbers give a number, and a Value among the operands gives a Value. The first overload has the docstring."""
    arity = op.arity
    signatures = [(["float"] * i + ["Value"] + ["Number"] * (arity - i - 1), "Value") for i in range(arity)]
    extra, default, _ = docs.EXTRA.get(name, ("", "", ""))
    if default:  # an operand that may be left out
        signatures.append((["float"] * arity + ["Value"], "Value"))
    signatures.append((["float"] * arity, "float"))
    signatures += [
        (["Number"] * i + ["_Array"] + ["Number | _Array"] * (arity - i - 1), "_Array") for i in range(arity)
    ]
    lines = []
    for kinds, result in signatures:
        operands = [f"{letter}: {kind}" for letter, kind in zip("abc", kinds[:arity], strict=False)]
        kind = "Number | _Array" if result == "_Array" else "Number" if result == "Value" else "float"
        more = f", {extra}: {kind}" if extra.startswith("*") else ""
        if default:
            operands.append(f"{extra}: {kinds[arity]}" if len(kinds) > arity else f"{extra}: {kind} | None = {default}")
        lines += ["@overload", f"def {name}({', '.join(operands)}, /{more}) -> {result}: ..."]
    return with_docstring(lines, docs.function_doc(op, name, worked_example))


def with_docstring(overloads: list[str], text: str) -> list[str]:
    """The first overload with a docstring, which editors show for them all; then the others."""
    return [overloads[0], *documented(overloads[1].removesuffix(" ..."), text), *overloads[2:]]


def sequence_stubs(row: ops.NaryOp) -> list[str]:
    lines = []
    # Values first: where nothing is known of an element, as of a model's output, an editor takes the first.
    for kind, result in (("Value", "Value"), ("float", "float"), ("Number", "Number")):
        seconds = ["Number" if kind == "Value" else kind] if row.paired else []
        sequences = ", ".join(f"{a}: Iterable[{k}]" for a, k in zip("ab", [kind, *seconds], strict=False))
        result = f"list[{result}]" if row.outputs and result != "Number" else result
        result = "list[float] | list[Value]" if row.outputs and result == "Number" else result
        lines += ["@overload", f"def {row.name}({sequences}, /) -> {result}: ..."]
    return with_docstring(lines, docs.nary_doc(row, worked_example))


#: What ``retrograd.math`` has beside the rows of the table.
MATH_MODULES = ("python_math", "whole_numbers")


def exports(module: str) -> list[str]:
    """The ``__all__`` of a module, read without the engine that it imports."""
    for node in ast.parse((PACKAGE / f"{module}.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return sorted(ast.literal_eval(node.value))
    raise ValueError(f"{module}.py has no __all__")


def math_stub() -> str:
    lines = [
        f"# {MARK}",
        "from collections.abc import Iterable",
        "from typing import Any, TypeAlias, overload",
        "",
        "import numpy as np",
        "",
        "from .engine import Number, Value",
        *(
            line
            for module in MATH_MODULES
            for line in (f"from .{module} import (", *(f"    {name} as {name}," for name in exports(module)), ")")
        ),
        "",
        "_Array: TypeAlias = np.ndarray[Any, Any]",
        "",
    ]
    names = [name for module in MATH_MODULES for name in exports(module)]
    for op, name in public_names():
        names.append(name)
        lines += function_stubs(op, name)
    for row in ops.NARY:
        if row.name in names:
            continue
        names.append(row.name)
        lines += sequence_stubs(row)
    lines += ["", f"__all__ = {sorted(names)!r}"]
    return "\n".join(lines) + "\n"


# --- TypeScript -----------------------------------------------------------------------------------


def typescript(text: str, names: tuple[str, ...]) -> str:
    return formula.to_typescript(formula.parse(text, names))


def typescript_partial(text: str, names: tuple[str, ...]) -> str:
    """A function that gives the local derivative, or null where it is structurally zero."""
    partial = formula.guarded(text, names)
    body = "null" if partial.expression is None else formula.to_typescript(partial.expression)
    if partial.guard is not None:
        body = f"{formula.to_typescript(partial.guard)} ? {body} : null"
    return f"({', '.join(names)}) => {body}"


def ops_typescript() -> str:
    """The op table for the page: every formula as a function, and as the text that it is."""
    primitives = [op.name for op in ops.OPS if op.primitive]
    lines = [
        f"// {MARK}",
        f'import {{ {", ".join(f"f_{name}" for name in primitives)} }} from "./src/model/special";',
        'import type { NaryOp, Op, Style } from "./src/model/table";',
        "",
    ]
    for op in ops.OPS:
        if not op.primitive:
            names = tuple("abc"[: op.arity])
            typed = ", ".join(f"{name}: number" for name in names)
            lines.append(f"function f_{op.name}({typed}): number {{ return {typescript(op.forward, names)}; }}")
    lines += ["", f"export const DIGEST = {json.dumps(ops.digest())};", "", "export const OPS: readonly Op[] = ["]
    for op in ops.OPS:
        names = (*"abc"[: op.arity], "y")
        fields = {
            "name": json.dumps(op.name),
            "symbol": json.dumps(op.label),
            "card": json.dumps(op.card),
            "doc": json.dumps(op.doc if op.public else ""),  # nobody can ask for the others by name
            "aliases": json.dumps(op.aliases),
            "public": json.dumps(op.public),
            "static": json.dumps(op.static),
            "forward": json.dumps(op.forward),
            "partials": json.dumps(op.partials),
            "f": f"f_{op.name}",
            "p": f"[{', '.join(typescript_partial(text, names) for text in op.partials)}]",
            "domain": "["
            + ", ".join(
                f"[({', '.join(names)}) => {typescript(item.when, names)}, {json.dumps(item.says)}]"
                for item in op.domain
            )
            + "]",
        }
        lines.append("  { " + ", ".join(f"{key}: {value}" for key, value in fields.items()) + " },")
    lines += ["];", "", "export const NARY: readonly NaryOp[] = ["]
    for row in ops.NARY:
        names = formula.operand_names(row.name)
        fields = {
            "name": json.dumps(row.name),
            "doc": json.dumps(row.doc),
            "paired": json.dumps(row.paired),
            "outputs": json.dumps(row.outputs),
            "empty": json.dumps(row.empty),
            "partials": json.dumps(row.partials),
            "init": typescript(row.init, ()),
            "step": f"(s, a, b, m) => {typescript(row.step, ('s', 'a', 'b', 'm'))}",
            "finish": f"(s, a, m, n) => {typescript(row.finish, ('s', 'a', 'm', 'n'))}",
            "p": f"[{', '.join(typescript_partial(text, names) for text in row.partials)}]",
        }
        lines.append("  { " + ", ".join(f"{key}: {value}" for key, value in fields.items()) + " },")
    lines += ["];", ""]
    for name, value in words().items():
        lines.append(f"export const {name} = {value};")
    return "\n".join(lines) + "\n"


def words() -> dict[str, str]:
    """How formulas and steps are written: the templates that the page fills in."""
    constants = ", ".join(f"{name}: {formula.to_typescript(ast.Name(name))}" for name in ops.CONSTANTS)
    styles = {name: dataclasses.asdict(getattr(notation, name)) for name in ("TEXT", "LATEX", "CARD")}
    return {
        "CONSTANTS: Readonly<Record<string, number>>": f"{{ {constants} }}",
        **{f"{name}: Style": entries(style) for name, style in styles.items()},
        "INFIX: Readonly<Record<string, string>>": json.dumps(notation.INFIX),
        "SEQUENCES: Readonly<Record<string, readonly [string, string, string]>>": json.dumps(notation.SEQUENCES),
        "SEQUENCE_CARDS: Readonly<Record<string, string>>": json.dumps(notation.SEQUENCE_CARDS),
        "TEXTBOOK: Readonly<Record<string, readonly [string, readonly string[]]>>": json.dumps(
            {name: (rule.forward, rule.partials) for name, rule in TEXTBOOK.items()}
        ),
        **{name: str(getattr(notation, name)) for name in ("MINUS", "PRODUCT", "ATOM", "MANY")},
        "SENTENCES": entries(sentences.SENTENCES),
        **{name: str(getattr(sentences, name)) for name in ("INPUTS", "LISTED")},
    }


def entries(given: object, indent: str = "") -> str:
    """JSON with an entry a line."""
    if not isinstance(given, dict):
        return json.dumps(given)
    lines = (f"{indent}  {json.dumps(key)}: {entries(value, indent + '  ')},\n" for key, value in given.items())
    return "{\n" + "".join(lines) + indent + "}"


# --- documentation --------------------------------------------------------------------------------


def ops_page() -> str:
    lines = [
        f"<!-- {MARK} -->",
        "# Every operator",
        "",
        "Operands are a, b, c in order and y is the result. A local derivative of `select(…, 0, …)` adds nothing at",
        "all on its zero side. An operation raises where Python's `float` or `math` does;",
        "`retrograd.errstate` turns that into IEEE infinities and NaN.",
        "",
        "| name | also | y | local derivatives | raises |",
        "|---|---|---|---|---|",
    ]
    for op in ops.OPS:
        raises = "; ".join(f"{d.error} when `{d.when}`" for d in op.domain) or "never"
        partials = ", ".join(f"`{partial}`" for partial in op.partials)
        also = ", ".join((*([f"`{op.symbol}`"] if op.symbol else []), *op.aliases))
        lines.append(f"| {op.name} | {also} | `{op.forward}` | {partials} | {raises} |")
    lines += [
        "",
        "## Over a sequence",
        "",
        "A fold from left to right: `s` starts at the first formula, each operand applies the second, the third is the",
        "result. `m` is the largest operand, `n` their number; `rest` and `ties` are explained in `ops/rows.py`.",
        "",
        "| name | start | step | result | local derivatives |",
        "|---|---|---|---|---|",
    ]
    for row in ops.NARY:
        partials = ", ".join(f"`{partial}`" for partial in row.partials)
        lines.append(f"| {row.name} | `{row.init}` | `{row.step}` | `{row.finish}` | {partials} |")
    lines += ["", "## Conventions at kinks and poles", "", "| at | y | local derivatives |", "|---|---|---|"]
    for op in ops.OPS:
        for edge in op.edges:
            at = ", ".join(f"{x:g}" for x in edge.at)
            lines.append(f"| {op.name}({at}) | {edge.y:g} | {', '.join(f'{x:g}' for x in edge.partials)} |")
    return "\n".join([*lines, *accuracy_notes()]) + "\n"


def accuracy_notes() -> list[str]:
    """How far results may be from the exact ones."""
    lines = [
        "",
        "## Accuracy",
        "",
        "y is within 2 units in the last place of the exact result and a local derivative within 4, times the",
        "condition number where that is above 1, except for:",
        "",
        "| name | y | local derivatives |",
        "|---|---|---|",
    ]
    rows = [op for op in ops.OPS if op.accuracy]
    return lines + [f"| {op.name} | {op.accuracy[0]} | {', '.join(map(str, op.accuracy[1:]))} |" for op in rows]


FILES = {
    ROOT / "native" / "ops" / "ops.inc": ops_inc,
    ROOT / "native" / "tape" / "docs.hpp": docs_hpp,
    PACKAGE / "_native.pyi": native_stub,
    PACKAGE / "math.pyi": math_stub,
    ROOT / "docs" / "ops.md": ops_page,
    ROOT / "web" / "ops.gen.ts": ops_typescript,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a generated file is stale")
    check = parser.parse_args().check
    stale = []
    for path, make in FILES.items():
        text = make()
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path.relative_to(ROOT))
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    for path in stale:
        print(f"{path} {'is stale: run make generate' if check else 'written'}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
