"""What comes from outside: read with limits, refused with a sentence, never run."""

from __future__ import annotations

import ast
import json
import runpy
import subprocess
import sys
import tracemalloc
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.parts import require

from retrograd.errors import CheckpointError, DataError, ExpressionError
from retrograd.trace.expression import parse
from retrograd.trace.grammar import MAX_LENGTH
from retrograd.trace.reader import decode
from retrograd.training.checkpoints import load_checkpoint

pytestmark = pytest.mark.native  # what is refused is refused before any engine sees it

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "retrograd"


def evaluated(text: str) -> float:
    return parse(text).evaluate({"a": 0.5}).root.data


# --- expressions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["9**9**9**9*a", "a" + "**9" * 1000, "a*" + "2**" * 2000 + "2"])
def test_an_exponent_tower_is_refused_before_it_is_worked_out(text: str) -> None:
    """``9**9**9`` alone has 154 MB of digits: the refusal takes thousands of times less."""
    tracemalloc.start()
    try:
        with pytest.raises(ExpressionError, match="too large"):
            evaluated(text)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


def test_ten_megabytes_are_refused_before_they_are_read() -> None:
    text, calls = "a+" * 5_000_000 + "a", 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += 1
        assert calls < 5000  # reading them is tens of millions

    sys.setprofile(count)
    try:
        with pytest.raises(ExpressionError, match="at most 100,000 are read"):
            parse(text)
    finally:
        sys.setprofile(None)
    assert calls > 1


@pytest.mark.parametrize(
    "text",
    ["(" * 40_000 + "a" + ")" * 40_000, "-" * 90_000 + "a", "tanh(" * 15_000 + "a" + ")" * 15_000, "a+" * 40_000 + "a"],
    ids=["parentheses", "signs", "calls", "terms"],
)
def test_depth_meets_no_recursion_limit(text: str) -> None:
    assert len(text) <= MAX_LENGTH
    evaluation = parse(text).evaluate({"a": 0.5})
    evaluation.root.backward()
    assert evaluation.leaves["a"].grad != 0.0


LOOK_ALIKES = ["\u0430*b", "a\u200b*b", "\uff41+1", "a \u2217 b", "\u2074*a", "\u0661*a", "a\u202e*b", "\U0001d44e*b"]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_look_alikes_are_refused_and_named(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"U\+[0-9A-F]{4,}"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "a.__class__", "(lambda: a)()", "[a for a in b]", "a if b else c", "open(a)", "a := 1",
     "f'{a}'", "a; b", "eval(a)", "exec('a')", "print(a)", "a.data", "globals()[a]"],
)  # fmt: skip
def test_python_is_not_run(text: str) -> None:
    with pytest.raises(ExpressionError):
        evaluated(text)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=60), st.text("ab(),+-*/%.0123456789[]<>= e", max_size=80)))
def test_any_text_is_an_expression_or_an_error(text: str) -> None:
    try:
        parsed = parse(text)
        parsed.evaluate(dict.fromkeys(parsed.names, 0.75))
    except ExpressionError as error:
        assert error.args[0].strip()  # noqa: PT017


# --- files -------------------------------------------------------------------------------------------------------


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.binary(max_size=200), JSON.map(lambda thing: json.dumps(thing).encode())))
def test_any_bytes_are_a_trace_or_an_error(data: bytes) -> None:
    with pytest.raises(DataError):
        decode(data)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_a_checkpoint_or_an_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("run")
    (folder / "checkpoint.json").write_bytes(data)
    with pytest.raises(CheckpointError):
        load_checkpoint(folder)


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/b.safetensors", "..", ""])
def test_a_checkpoint_names_no_file_elsewhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    folder = tmp_path / "run"
    folder.mkdir()
    index = {"format": "retrograd-checkpoint", "version": 1, "step": 0, "config": {}, "optimizer": {},
             "parameters": {"file": name, "bytes": 1, "sha256": "0"}, "random_state": [3, [0] * 625, None]}  # fmt: skip
    (folder / "checkpoint.json").write_text(json.dumps(index))
    with pytest.raises(CheckpointError):
        load_checkpoint(folder)


def test_a_pickle_is_not_a_checkpoint_nor_a_trace(tmp_path: Path) -> None:
    data = b"\x80\x04cposix\nabort\n)R."  # unpickling this ends the process
    (tmp_path / "checkpoint.json").write_bytes(data)
    with pytest.raises(CheckpointError):
        load_checkpoint(tmp_path)
    with pytest.raises(DataError):
        decode(data)


#: Calls that run what they are given.
DANGEROUS = {"eval", "exec", "compile", "__import__", "load_source", "system", "popen"}
#: Formulas of the op table are compiled; a learner's own file runs, in a process of its own, because that was asked;
#: and the source of a function that the user runs anyway is compiled with both arms of an ``if``.
ALLOWED = {
    "ops/formula.py": {"eval"},
    "lesson/grader/loading.py": {"compile", "exec"},
    "compiler/if_conversion/rewriting/source.py": {"compile"},
}
MODULES = {"pickle", "marshal", "shelve", "dill", "yaml", "joblib", "cPickle"}
#: The compiler's process answers through a pipe that only this process and that one have.
ALLOWED_MODULES = {"compiler/backends/process.py": {"pickle"}}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_that_is_read_is_run_or_unpickled(path: Path) -> None:
    calls, modules = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in DANGEROUS:
                calls.add(name)
            case ast.Import(names=names):
                modules.update(alias.name.split(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module)):
                modules.add(module.split(".")[0])
    assert calls <= ALLOWED.get(path.relative_to(PACKAGE).as_posix(), set())
    assert modules & MODULES <= ALLOWED_MODULES.get(path.relative_to(PACKAGE).as_posix(), set())


def test_shells_are_not_used() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert "shell=True" not in path.read_text(encoding="utf-8"), path


def test_dependencies_are_few_and_known() -> None:
    """A new dependency is a decision: it is written here, too. ``make audit`` looks for known holes in them."""
    tomllib = require("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {name.split(">")[0] for name in project["dependencies"]} == {"numpy", "rich", "typer", "safetensors"}


def test_an_audit_without_advisories_says_so() -> None:
    """pip-audit itself succeeds when its source knows no package at all."""
    verdict = runpy.run_path(str(ROOT / "tools" / "audit.py"))["verdict"]
    unknown = {"name": "numpy", "skip_reason": "not found"}
    sound = {"name": "rich", "version": "13.0", "vulns": []}
    open_ = {"name": "typer", "version": "0.1", "vulns": [{"id": "CVE-1", "fix_versions": ["0.2"]}]}
    assert verdict([unknown], False) == (0, verdict([unknown], True)[1])
    assert verdict([unknown], True)[0] == 1
    assert verdict([unknown], False)[1].startswith("NOT AUDITED: ")
    assert verdict([unknown, sound], True) == (0, "1 of 2 packages audited, no known hole; nothing is known of numpy")
    status, says = verdict([unknown, sound, open_], False)
    assert (status, says.splitlines()[1]) == (1, "typer 0.1: CVE-1, mended in 0.2")


@pytest.mark.long
def test_fuzzers_run_where_atheris_is_installed() -> None:
    require("atheris")
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "fuzz.py", "--seconds", "3"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("executions, nothing found") == 3
