"""The shape of the house: which part may know which, and that nothing grows out of hand."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.native  # reads files: once is enough

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "retrograd"

#: The layers of the package, lowest first: a module imports only from its own layer and from layers before it.
#: An entry stands for a module or a package with all that is in it; the longest entry that fits decides.
LAYERS = [
    "ops",  # the op table and its formulas
    "errors",
    "habits",  # what other libraries call otherwise
    "ops.jax_functions",
    "engine",  # Value, in two engines
    "index",
    "python_math",  # what Python's math has beside the op table
    "whole_numbers",
    "math",
    "array_protocols",  # what NumPy, PyTorch and JAX ask of a Value
    "linalg",
    "primitives",
    "autodiff",
    "nn",
    "optim",
    "compiler",
    "training",
    "trace",
    "scipy",
    "torch",
    "sympy",
    "sklearn",
    "explorer",
    "magics",
    "lesson",
    "cli",
    "__main__",
    "__init__",
]


def module_of(path: Path) -> str:
    """The dotted name of a file inside the package; a package's ``__init__.py`` has the package's own name."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "__init__"


FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {module_of(path) for path in FILES}


def imported_modules(path: Path, when_loaded: bool = False) -> set[str]:
    """The modules of retrograd that a file imports, except for type checking alone.

    With ``when_loaded`` those inside functions are left out.
    """
    modules: set[str] = set()
    package = ("retrograd", *path.relative_to(PACKAGE).parts[:-1])

    def add(*parts: str) -> None:
        while parts and ".".join(parts) not in MODULES:
            parts = parts[:-1]  # what a module defines, or the native module, which is below all layers
        modules.update([".".join(parts)] if parts else [])

    def visit(node: ast.AST) -> None:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=orelse):
                for child in orelse:
                    visit(child)
                return
            case ast.ImportFrom(module=module, names=names, level=level):
                base = package[: len(package) - level + 1] if level else ()
                full = (*base, *(module.split(".") if module else ()))
                if full[:1] == ("retrograd",):
                    for alias in names:
                        add(*full[1:], alias.name)
            case ast.Import(names=names):
                for alias in names:
                    if alias.name.startswith("retrograd."):
                        add(*alias.name.split(".")[1:])
            case ast.FunctionDef() | ast.AsyncFunctionDef() if when_loaded:
                return
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text()))
    return modules - {module_of(path)}


def layer_of(module: str) -> int:
    """The number of a module's layer in LAYERS."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in LAYERS:
            return LAYERS.index(name)
    raise AssertionError(f"{module} is in no layer: say in LAYERS where it stands")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_layers_before_its_own(path: Path) -> None:
    module = module_of(path)
    above = sorted(other for other in imported_modules(path) if layer_of(other) > layer_of(module))
    assert not above, f"{module} ({LAYERS[layer_of(module)]}) imports {above}, which stand in later layers"


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    arrows = {module_of(path): imported_modules(path, when_loaded=True) for path in FILES}
    while loadable := {module for module, needs in arrows.items() if not needs & arrows.keys()}:
        for module in loadable:
            del arrows[module]
    assert not arrows, f"these modules import each other: {sorted(arrows)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_stay_readable(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert len(lines) <= 620, f"{path.name} has {len(lines)} lines: is it one thing?"
    assert ast.get_docstring(ast.parse("\n".join(lines))), f"{path.name} does not say what it is for"


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in FILES if "compiler" in path.parts}), ids=lambda folder: folder.name
)
def test_a_folder_of_the_compiler_can_be_taken_in_at_a_glance(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= 13


#: The folders of the explorer's page in the order in which data passes; "." is the page that puts them together.
WEB = ROOT / "web" / "src"
WEB_LAYERS = [
    "model", "lab", "words", "trace", "layout", "state", "parts", "views", "panels", "frame", "live", "lesson", ".",
]  # fmt: skip
WEB_FILES = sorted([*WEB.rglob("*.ts"), *WEB.rglob("*.tsx")])
WEB_IMPORT = re.compile(r'^import (?:[^"]* from )?"(\.[^"]*)";$', re.MULTILINE)


def web_layer(path: Path) -> int:
    parts = path.relative_to(WEB).parts
    return WEB_LAYERS.index(parts[0] if len(parts) > 1 else ".")


def web_imports(path: Path) -> set[Path]:
    """The files of ``web/src`` that one of them imports, for their types too."""
    named = [(path.parent / name).resolve() for name in WEB_IMPORT.findall(path.read_text())]
    return {file for file in WEB_FILES for name in named if file.with_suffix("") == name}


@pytest.mark.parametrize("path", WEB_FILES, ids=lambda path: path.relative_to(WEB).as_posix())
def test_the_page_imports_only_from_layers_before(path: Path) -> None:
    later = [other for other in web_imports(path) if web_layer(other) > web_layer(path)]
    assert not later, f"{path.name} imports {later[0].relative_to(WEB)}, which stands later in WEB_LAYERS"


def test_the_page_has_no_circular_imports() -> None:
    order = [*TopologicalSorter({path: web_imports(path) for path in WEB_FILES}).static_order()]
    assert len(order) == len(WEB_FILES) > 40
    imported = {name for path in WEB_FILES for name in web_imports(path)}
    entries = {WEB / "main.tsx", WEB / "live" / "main.tsx", WEB / "lesson" / "main.tsx"}
    generated = {WEB / "model" / "special.ts"}  # what ops.gen.ts imports
    assert imported | entries | generated == set(WEB_FILES), "a file that nothing imports is of no use"


@pytest.mark.parametrize("folder", WEB_LAYERS)
def test_a_folder_of_the_page_can_be_taken_in_at_a_glance(folder: str) -> None:
    files = [path for path in WEB_FILES if path.parent == (WEB / folder).resolve()]
    assert 0 < len(files) <= 13
    for path in files:
        assert len(path.read_text().splitlines()) <= 400, f"{path.name} is long: is it one thing?"
        assert path.read_text().startswith("/**"), f"{path.name} does not say what it is for"


#: The folders of native/, from the bottom up. A file includes files of its own folder and of folders before it.
NATIVE_LAYERS = (
    "ops",
    "tape",
    "trees",
    "compiler/graph",
    "compiler/kernels",
    "parameters",
    "compiler/passes",
    "compiler/lower",
    "compiler/guards",
    "compiler/run",
    "bindings",
)
NATIVE = ROOT / "native"
NATIVE_FILES = sorted(path for path in NATIVE.rglob("*") if path.suffix in {".cpp", ".hpp", ".inc"})


def included(path: Path) -> list[str]:
    """The files of native/ that a file includes, relative to native/."""
    return re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("path", NATIVE_FILES, ids=lambda path: str(path.relative_to(NATIVE)))
def test_native_files_include_only_lower_layers(path: Path) -> None:
    folder = path.parent.relative_to(NATIVE).as_posix()
    assert folder in NATIVE_LAYERS, f"{folder} is new: give it a place in NATIVE_LAYERS"
    allowed = NATIVE_LAYERS[: NATIVE_LAYERS.index(folder) + 1]
    for name in included(path):
        assert (NATIVE / name).is_file(), f"{name}: includes are written relative to native/"
        assert Path(name).parent.as_posix() in allowed, f"{folder} may not include {name}"


def test_native_includes_have_no_cycle() -> None:
    graph = {path.relative_to(NATIVE).as_posix(): set(included(path)) for path in NATIVE_FILES}
    assert graph["bindings/module.cpp"]
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError, which names the cycle


@pytest.mark.parametrize("folder", NATIVE_LAYERS)
def test_native_folders_say_what_they_know(folder: str) -> None:
    assert (NATIVE / folder / "README.md").is_file()


def test_heavy_packages_are_imported_when_used() -> None:
    heavy = {"torch", "jax", "matplotlib", "anywidget", "llvmlite"}
    code = f"import sys, retrograd; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_nn_and_optim_are_there_after_import() -> None:
    code = "import retrograd as rg; print(rg.nn.MLP.__name__, rg.optim.Adam.__name__, rg.math.exp(0.0), rg.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MLP Adam 1.0 ")


def test_generated_files_say_so() -> None:
    """That they are fresh: make lint."""
    for name in (
        "native/ops/ops.inc",
        "native/tape/docs.hpp",
        "src/retrograd/_native.pyi",
        "src/retrograd/math.pyi",
        "docs/ops.md",
        "web/ops.gen.ts",
    ):
        assert re.search("Generated from .* by .*. Do not edit", (ROOT / name).read_text().splitlines()[0])


#: Changes the op table before the rest of the package is imported.
ANOTHER_TABLE = """
import importlib.util, sys, types
package = types.ModuleType("retrograd")
package.__path__ = importlib.util.find_spec("retrograd").submodule_search_locations
sys.modules["retrograd"] = package
import retrograd.ops
retrograd.ops.CONSTANTS["LN2"] = 0.5
import retrograd.engine
"""


def test_another_table_is_refused() -> None:
    environment = {**os.environ, "RETROGRAD_ENGINE": "native"}
    done = subprocess.run([sys.executable, "-c", ANOTHER_TABLE], env=environment, capture_output=True, text=True)
    assert done.returncode != 0
    assert "NativeMismatchError" in done.stderr
    assert "pip install ." in done.stderr


def test_an_unknown_engine_is_refused_with_a_sentence() -> None:
    code = "import os; os.environ['RETROGRAD_ENGINE'] = 'warp'; import retrograd"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "set it to 'native' (the default) or 'reference'" in done.stderr
