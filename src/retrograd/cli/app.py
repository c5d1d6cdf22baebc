"""The command ``retrograd``: explain, explore, check, learn, grade and train.

Every wrong input ends with one sentence on stderr and a non-zero exit status, never with a traceback.
"""

from __future__ import annotations

import importlib.util
import inspect
import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from enum import StrEnum
from pathlib import Path
from types import CodeType, ModuleType
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from rich.console import Console

from .. import __version__
from ..errors import ExpressionError, RetrogradError
from ..explorer.explorer import explore as explore_anything
from ..explorer.explorer import explore_function
from ..explorer.terminal import explore_in_terminal
from ..trace.explain import Explanation, ascii_text, explain_function
from ..trace.explain import explain as explain_anything
from ..trace.grammar import FUNCTIONS, MINUS
from ..trace.render import LIMIT, check_section
from .grade import grade
from .learn import learn
from .sentences import end_with_verdict, fail, one_sentence_errors
from .train import train

__all__ = ["app", "main"]

app: typer.Typer = typer.Typer(
    name="retrograd",
    help="Automatic differentiation that you can watch: explain a gradient, check it, train with it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="-h is short for --help, and -V for --version.",
    rich_markup_mode=None,  # plain help, which a pipe and a narrow terminal take as well
)

Looked = TypeVar("Looked")

#: Expressions and values may begin with a minus sign, so what looks like an unknown option is taken as an argument.
_SIGNS = {"ignore_unknown_options": True}


_WHAT = "An expression in quotes, FILE.py:FUNCTION, or - for an expression on standard input."
_VALUES = "A number for each name: a=2 b=-3. A function in a FILE may get a list, too: xs=1,2,3 (of one number: xs=5,)."
_FUNCTION_NAMES = (
    f"Functions in expressions: {', '.join(sorted(FUNCTIONS))}. Those of lists take names: sum(a, b), dot([a, b], "
    "[c, d]). Constants: pi, e and tau, where no value is given for that name."
)


class Format(StrEnum):
    """How an explanation is printed."""

    text = "text"
    json = "json"
    markdown = "markdown"
    dot = "dot"
    mermaid = "mermaid"


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"retrograd {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Automatic differentiation that you can watch: explain a gradient, check it, train with it."""


@app.command(
    context_settings=_SIGNS, epilog=_FUNCTION_NAMES, short_help="Show every step forward and every += backward."
)
def explain(
    what: Annotated[str, typer.Argument(metavar="WHAT", help=_WHAT)],
    values: Annotated[list[str] | None, typer.Argument(metavar="NAME=VALUE", help=_VALUES)] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print it.")] = Format.text,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Leave the gradient check out, which runs a function twice more.")
    ] = False,
    all_steps: Annotated[bool, typer.Option("--all", help="Show every step of a large graph.")] = False,
) -> None:
    """Show every step forward, every += backward, and what the gradients mean.

    retrograd explain "(a*b + c) * (a + b)" a=2 b=-3 c=10
    """
    with _sentences():
        explanation = _explained(what, _numbers(values or []))
        _show(explanation, what, form, None if all_steps else LIMIT, not no_check)


@app.command(context_settings=_SIGNS, short_help="Step through it, in the browser or in the terminal.")
def explore(
    what: Annotated[str, typer.Argument(metavar="WHAT", help=_WHAT)],
    values: Annotated[list[str] | None, typer.Argument(metavar="NAME=VALUE", help=_VALUES)] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the page here, not to a temporary file.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Write the page and do not open it.")] = False,
    in_terminal: Annotated[bool, typer.Option("--tty", help="Step through it in this terminal; no page.")] = False,
) -> None:
    """Step through it forward and backward, in the browser or in the terminal.

    retrograd explore "(a*b + c) * (a + b)" a=2 b=-3 c=10
    """
    with _sentences():
        numbers = _numbers(values or [])
        if in_terminal:
            if out is not None or no_browser:
                fail("--tty shows the steps in this terminal and writes no page: leave out --out and --no-browser.")
            explore_in_terminal(_explained(what, numbers).trace)
            return
        if no_browser and out is None and Path("explorer.html").exists():
            fail("explorer.html is there already: name a file with --out, or the same one to overwrite it.")
        page = _looked_at(what, numbers, explore_function, explore_anything)
        written = page.save(out or Path("explorer.html")) if no_browser else page.open(out)
        print(f"Written: {written}")


@app.command(context_settings=_SIGNS, short_help="Compare its gradients with those of others.")
def check(
    what: Annotated[str, typer.Argument(metavar="WHAT", help=_WHAT)],
    values: Annotated[list[str] | None, typer.Argument(metavar="NAME=VALUE", help=_VALUES)] = None,
    all_inputs: Annotated[bool, typer.Option("--all", help="Show every input of a large function.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; the exit status tells.")] = False,
) -> None:
    """Compare gradients with finite differences, the reference engine, PyTorch and JAX.

    The exit status is 0 when all are right, 1 when a gradient must not be trusted, 2 when it cannot be asked.
    """
    with _cannot_be_asked(), _sentences():
        explanation = _explained(what, _numbers(values or []))
        with _user_code(what), _waiting():
            table = explanation.check
        if table is None:
            fail(f"{what} has no inputs to check: give at least one name=value.")

    def write() -> None:
        if as_json:
            _write(table.to_json() + "\n")
        elif not quiet:
            _print(_console(), check_section(table, None if all_inputs else LIMIT))

    end_with_verdict(table.ok, write)


# The help lists the commands in this order.
app.command(short_help="Ten chapters on backpropagation, in the browser, offline.")(learn)
app.command(short_help="Examine your own Value class rule by rule.")(grade)
app.add_typer(train, short_help="Train a small model, and look at what it learned.")


@contextmanager
def _cannot_be_asked() -> Iterator[None]:
    """Inside, a refusal ends the command with status 2: 1 is for a gradient that is wrong."""
    try:
        yield
    except typer.Exit as error:
        raise typer.Exit(2 if error.exit_code == 1 else error.exit_code) from None


# --- the arguments --------------------------------------------------------------------------------

_FILE = re.compile(r"(?P<file>.+\.py):(?P<function>[^\W\d][\w.]*)", re.DOTALL)
_PAIR = re.compile(r"(?P<name>[^\W\d]\w*)\s*=\s*(?P<value>.*)", re.DOTALL)


def _explained(what: str, values: dict[str, float | list[float]]) -> Explanation:
    """The explanation of an expression, or of a function in a file."""
    return _looked_at(what, values, explain_function, explain_anything)


def _looked_at(
    what: str,
    values: dict[str, float | list[float]],
    at_function: Callable[[Callable[..., Any], dict[str, Any], str], Looked],
    at_expression: Callable[..., Looked],
) -> Looked:
    """Explain or explore the argument: a function in a file, or an expression."""
    if what == "-":
        what = _standard_input()
    match = _FILE.fullmatch(what)
    if re.fullmatch(r"--[a-z][a-z-]+", what) and what.strip("-") not in values:
        fail(_not_a_pair(what))
    if match is not None:
        function = _function(Path(match["file"]), match["function"])
        with _user_code(what):
            return at_function(function, dict(values), match["function"])
    if what.endswith((".py", ".py:")):
        fail(f"{what} names a file: add the function to call, as in {what.rstrip(':')}:loss.")
    for name, value in values.items():
        if isinstance(value, list):
            fail(
                f"{name} is a list, {value}, and a name in an expression stands for one number: name each of them, as "
                "in 'sum(a, b, c)' a=1 b=2 c=3, or write a function in a file, FILE.py:FUNCTION, which takes lists."
            )
    return at_expression(what, **values)


def _standard_input() -> str:
    try:
        return sys.stdin.read().strip()
    except UnicodeDecodeError as error:
        fail(f"standard input is no text in {error.encoding}: write the expression in it, such as 'a*b + c'.")


def _numbers(pairs: Sequence[str]) -> dict[str, float | list[float]]:
    """``["a=2", "xs=1,2,3"]`` as names with floats or lists of floats."""
    values: dict[str, float | list[float]] = {}
    for pair in pairs:
        match = _PAIR.fullmatch(pair.strip())
        if match is None:
            fail(_not_a_pair(pair))
        name, text = match["name"], match["value"].strip()
        if text.startswith(("[", "(")):
            fail(f"{name}={text!r} is no number: write a list without brackets, {name}=1,2,3 (of one: {name}=5,).")
        if name in values:
            fail(f"{name} is given twice, as {values[name]!r} and as {text}: give it once.")
        values[name] = (
            [_number(name, item) for item in text.removesuffix(",").split(",")] if "," in text else _number(name, text)
        )
    return values


def _not_a_pair(text: str) -> str:
    if text.startswith("--"):
        return f"there is no option {text}: see retrograd explain --help."
    return f"{text!r} is not of the form name=value, such as a=2 (put the expression in quotes, before the values)."


def _number(name: str, text: str) -> float:
    cleaned = text.strip().replace(MINUS, "-")
    try:
        number = float(cleaned)
    except ValueError:
        fail(f"{name}={text!r} is not a number: write digits, such as {name}=2 or {name}=-0.5.")
    if number in (float("inf"), -float("inf")) and "inf" not in cleaned.lower():
        fail(f"{name}={text} is too large for a float; the largest is 1.7976931348623157e+308.")
    return number


def _function(path: Path, name: str) -> Callable[..., Any]:
    """The function ``name`` of the file ``path``, imported as Python would import a script beside it."""
    if not path.is_file():
        fail(f"there is no file {path}: check the path before the colon.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        fail(f"{path} cannot be imported: it must be a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.resolve().parent))
    with _user_code(str(path)):
        spec.loader.exec_module(module)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        fail(f"{path} has no function {name}; it has {_own_functions(module)}.")
    if inspect.iscoroutinefunction(found):
        fail(f"{name} of {path} is async, and this command does not await it: make it a plain function (def {name}).")
    function: Callable[..., Any] = found
    return function


def _own_functions(module: ModuleType, most: int = 12) -> str:
    """The names of the functions and classes that a module defines, as a list in words."""
    own = [
        key
        for key, thing in vars(module).items()
        if callable(thing) and getattr(thing, "__module__", "") == module.__name__
    ]
    more = f" and {len(own) - most} more" if len(own) > most else ""
    return ", ".join(own[:most]) + more if own else "none"


# --- errors ---------------------------------------------------------------------------------------


@contextmanager
def _sentences() -> Iterator[None]:
    """As ``one_sentence_errors``, but an ExpressionError keeps the lines that point at its position."""
    with one_sentence_errors():
        try:
            yield
        except ExpressionError as error:
            print(f"retrograd: {error}", file=sys.stderr)
            raise typer.Exit(1) from None


@contextmanager
def _user_code(what: str) -> Iterator[None]:
    """Turn an exception in the user's file into one sentence that names the line.

    What it prints goes to stderr, so that standard output holds the explanation alone.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (BrokenPipeError, MemoryError):
        raise
    except (RetrogradError, TypeError, ValueError) as error:
        _blame(what, error, str(error) or type(error).__name__)
    except SyntaxError as error:
        location = what if error.filename is None else f"{error.filename}, line {error.lineno}"
        fail(f"{location}: {error.msg}.")
    except (Exception, SystemExit) as error:
        _blame(what, error, f"{type(error).__name__}: {error}".rstrip(": "))


def _blame(what: str, error: BaseException, says: str) -> NoReturn:
    package = str(Path(__file__).parent.parent)
    lines = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith((package, "<frozen"))
    ]
    location = _line(*lines[-1]) if lines else what
    if "Value' object is not iterable" in says:
        says += " (a list of one number is written with a comma, as in xs=5,)"
    fail(f"{location}: {says}")


def _line(code: CodeType, line: int) -> str:
    return f"{code.co_filename}, line {line}, in {code.co_name}"


# --- printing -------------------------------------------------------------------------------------


def _console() -> Console:
    """Standard output: coloured and as wide as the terminal; without a terminal plain and 80 columns wide."""
    return Console(
        highlight=False, markup=False, emoji=False, soft_wrap=False, legacy_windows=False, force_jupyter=False
    )


@contextmanager
def _waiting() -> Iterator[None]:
    """Show on a terminal that the command is working: importing PyTorch or JAX takes a few seconds."""
    if not sys.stderr.isatty():
        yield
        return
    console = Console(stderr=True, force_jupyter=False)
    with console.status(_checking(), spinner="line"):
        yield


def _checking() -> str:
    peers = [name for part, name in (("torch", "PyTorch"), ("jax", "JAX")) if importlib.util.find_spec(part)]
    importing = f" (importing {' and '.join(peers)} takes seconds)" if peers else ""
    return f"Checking the gradients{importing} ..."


def _show(explanation: Explanation, what: str, form: Format, limit: int | None, check: bool) -> None:
    """Print an explanation, then its check with every installed peer, which takes longer."""
    console = _console()
    if form is Format.text:
        for section in explanation.sections(limit, check=False):
            _print(console, section)
    if form in (Format.dot, Format.mermaid):
        _write(explanation.to_dot() if form is Format.dot else explanation.to_mermaid())
        return
    text, table = "", None
    with _user_code(what), _waiting() if check else nullcontext():  # the check calls the function again
        if check:
            table = explanation.check_or_reason(None)
        if form is Format.json:
            text = explanation.to_json(indent=2, check=check) + "\n"
        elif form is Format.markdown:
            text = explanation.to_markdown(limit, check)
    if form is not Format.text:
        _write(text)
    elif table is not None:
        _print(console, check_section(table, limit))


def _print(console: Console, thing: Any) -> None:
    """Print a renderable without trailing spaces."""
    with console.capture() as capture:
        console.print(thing)
    text = "\n".join(line.rstrip() for line in capture.get().split("\n"))
    _write(text)


def _write(text: str) -> None:
    """Write text to standard output, in ASCII when its encoding has no other characters."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = ascii_text(text)
    sys.stdout.write(text)
    sys.stdout.flush()


_UsageError: Any = typer.BadParameter.__base__


def main() -> None:
    """The entry point of the command: runs it and exits with its status."""
    _prepare_streams()
    # Not as options of each command: -h*2 is an expression.
    sys.argv[1:] = [{"-h": "--help", "-V": "--version"}.get(word, word) for word in sys.argv[1:]]
    try:
        with one_sentence_errors():  # for what writes before a command runs: --help, --version
            try:
                status = app(prog_name="retrograd", standalone_mode=False)
            finally:
                sys.stdout.flush()  # at exit a full disk would be a traceback of Python's
    except typer.Exit as error:
        status = error.exit_code
    except _UsageError as error:
        _usage(error)
        status = 2
    except typer.Abort:
        status = 1
    sys.exit(status if isinstance(status, int) else 0)


def _prepare_streams() -> None:
    """Let writing never fail: not on a character that the encoding lacks, nor on a closed output (``>&-``).

    A closed standard input (``<&-``) is an empty one.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


#: What the libraries below say, in our words.
_JARGON = {
    "Input should be a valid integer, unable to parse string as an integer": "it must be a whole number",
    "Input should be a valid number, unable to parse string as a number": "it must be a number",
    "Input should be ": "it must be ",
}


def _usage(error: Any) -> None:
    """One sentence about a wrong command line; the help for an empty one."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return
    command = error.ctx.command_path if error.ctx is not None else "retrograd"
    message = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".?:")
    for jargon, words in _JARGON.items():
        message = message.replace(jargon, words)
    message = message.replace(". Did you mean", ", did you mean")
    received = _received(getattr(getattr(error, "param", None), "opts", ()))
    if received is not None and repr(received) not in message:
        message += f"; it is {received!r}"
    print(f"retrograd: {message[:1].lower()}{message[1:]}: see {command} --help.", file=sys.stderr)


def _received(options: Sequence[str]) -> str | None:
    """The value that the command line has for an option, under any of its names; None without the option."""
    for word, after in zip(sys.argv[1:], [*sys.argv[2:], None], strict=True):
        name, equals, value = word.partition("=")
        if name in options:
            return value if equals else after
    return None
