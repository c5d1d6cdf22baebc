"""``retrograd train``: train a GPT on names or a network on the two moons, and look at what it learned."""

from __future__ import annotations

import dataclasses
import shlex
import sys
import time
import webbrowser
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from ..engine import no_grad
from ..errors import MissingExtraError
from ..training import (
    GPTSettings,
    MoonsSettings,
    Progress,
    load_gpt,
    load_moons,
    read_log,
    refuse_taken,
    sample,
    sampling_tokens,
    saved_settings,
    train_gpt,
    train_moons,
)
from ..training.data import Vocabulary, load_documents, save_documents
from . import plots
from .sentences import INTERRUPTED, OutputConsole, StopRequest, fail, file_sentence, one_sentence_errors
from .several_hosts import joined, supervised

__all__ = ["train"]

train: typer.Typer = typer.Typer(
    name="train",
    help="Train a small model, watch its loss fall, and look at what it learned.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_STANDARD_INPUT = Path("-")
AnySettings = TypeVar("AnySettings", bound=GPTSettings | MoonsSettings)
_GPT, _MOONS = GPTSettings(), MoonsSettings()

Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, from its last checkpoint.")]
Eager = Annotated[bool, typer.Option("--eager", help="Record and sweep each step instead of compiling it.")]
Force = Annotated[bool, typer.Option("--force", help="Delete the run in --out and begin a new one.")]
LiveView = Annotated[bool, typer.Option("--live", help="Watch and steer it on a page in the browser.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no curve.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="With --live: print the page's address only.")]


class BackendName(StrEnum):
    """The backend that computes a training step."""

    native = "native"
    jax = "jax"


def _option(text: str, least: float | None = None, metavar: str | None = "N") -> Any:
    return typer.Option(help=text, min=least, metavar=metavar)


@train.command(short_help="A small GPT on the lines of a text file, which then makes up new ones.")
def gpt(
    context: typer.Context,
    data: Annotated[
        Path | None,
        typer.Option(
            help="A text file, one document a line; - for standard input.",
            show_default="4,018 given names",
            metavar="FILE",
        ),
    ] = None,
    steps: Annotated[int, _option("Training steps.", 1)] = _GPT.steps,
    n_embd: Annotated[int, _option("Numbers in each embedding.", 1)] = _GPT.n_embd,
    n_layer: Annotated[int, _option("Transformer layers.", 1)] = _GPT.n_layer,
    n_head: Annotated[int, _option("Attention heads; they divide --n-embd.", 1)] = _GPT.n_head,
    block_size: Annotated[int, _option("Longest document, in characters.", 1)] = _GPT.block_size,
    seed: Annotated[int, _option("Fixes every random choice.")] = _GPT.seed,
    lr: Annotated[float, _option("Learning rate at the start; it falls to 0.", 0, "X")] = _GPT.lr,
    batch: Annotated[int, _option("Documents in each step.", 1)] = _GPT.batch,
    backend: Annotated[
        BackendName, _option("Who computes: this library, or JAX on its devices.", metavar=None)
    ] = BackendName.native,
    devices: Annotated[
        int | None,
        typer.Option(
            help="With --backend jax: among how many devices to divide each step.",
            show_default="all",
            min=1,
            metavar="N",
        ),
    ] = None,
    coordinator: Annotated[
        str | None,
        typer.Option(help="With --backend jax on several hosts: the first one's address.", metavar="HOST:PORT"),
    ] = None,
    processes: Annotated[int | None, _option("With --coordinator: how many processes there are.")] = None,
    process_id: Annotated[int | None, _option("With --coordinator: which one this is, from 0.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the run.", metavar="DIR")] = Path("runs/gpt"),
    resume: Resume = False,
    force: Force = False,
    eager: Eager = False,
    live: LiveView = False,
    no_browser: NoBrowser = False,
    quiet: Quiet = False,
    samples: Annotated[int, _option("Documents to make up at the end.", 0)] = 20,
    temperature: Annotated[float, _option("Of the samples: 0 the likeliest, 1 as learned.", 0, "X")] = 0.5,
    prompt: Annotated[str, _option("How each sample begins.", metavar="TEXT")] = "",
) -> None:
    """Train a small GPT on the lines of a text file, then let it make up new ones."""
    command = f"gpt --out {_quoted(out)}"
    with supervised(coordinator, command), one_sentence_errors(ValueError):
        if data == _STANDARD_INPUT:
            if coordinator is not None:
                fail("standard input reaches one process of several: copy the text into a file on each host.")
            context.params["data"] = _copy_of_standard_input(out, resume or force)
        first = joined(coordinator, processes, process_id, backend.value)
        settings = _settings(GPTSettings, context, out, resume, force)
        vocabulary = Vocabulary("".join(load_documents(settings.data)))
        sampling_tokens(vocabulary, settings.block_size, temperature, prompt)
        if live:
            if backend is not BackendName.native:
                fail("--live shows steps of retrograd's own engine: leave out --backend or --live.")
            _watch(settings, out, command, resume=resume, force=force, no_browser=no_browser)
        else:
            with _saying_what_to_do():
                run = train_gpt(
                    settings, out, resume=resume, force=force, eager=eager, backend=backend.value, devices=devices
                )
            _follow(run, settings.steps, command, quiet or not first)
        if not first:
            return
        _show_losses(out, quiet)
        model, vocabulary = load_gpt(out)
        for number in range(1, samples + 1):
            print(f"sample {number:2d}: {_harmless(sample(model, vocabulary, temperature, prompt))}")


@train.command(short_help="A network with two hidden layers that tells two moons apart.")
def moons(
    context: typer.Context,
    points: Annotated[int, _option("Points in the two moons.", 2)] = _MOONS.points,
    noise: Annotated[float, _option("Standard deviation of the points' scatter.", 0, "X")] = _MOONS.noise,
    steps: Annotated[int, _option("Training steps; each takes all points.", 1)] = _MOONS.steps,
    seed: Annotated[int, _option("Fixes every random choice.")] = _MOONS.seed,
    lr: Annotated[float, _option("Learning rate at the start; it falls to a tenth.", 0, "X")] = _MOONS.lr,
    out: Annotated[Path, typer.Option(help="Folder of the run.", metavar="DIR")] = Path("runs/moons"),
    resume: Resume = False,
    force: Force = False,
    eager: Eager = False,
    live: LiveView = False,
    no_browser: NoBrowser = False,
    quiet: Quiet = False,
) -> None:
    """Train a network with two hidden layers to tell two moons apart, and draw where it draws the line."""
    with one_sentence_errors(ValueError):
        settings = _settings(MoonsSettings, context, out, resume, force)
        command = f"moons --out {_quoted(out)}"
        if live:
            _watch(settings, out, command, resume=resume, force=force, no_browser=no_browser)
        else:
            with _saying_what_to_do():
                run = train_moons(settings, out, resume=resume, force=force, eager=eager)
            _follow(run, settings.steps, command, quiet)
        _show_losses(out, quiet)
        _show_boundary(out, quiet)


def _settings(kind: type[AnySettings], context: typer.Context, out: Path, resume: bool, force: bool) -> AnySettings:
    """The command's options as settings. In a resumed run, the options that are given replace the saved ones."""
    if resume and force:
        fail("--resume continues the run and --force deletes it: give one of the two.")
    names = [field.name for field in dataclasses.fields(kind)]
    if resume:
        names = [name for name in names if _was_given(context, name)]
    given = {name: context.params[name] for name in names}
    if given.get("data") is not None:
        given["data"] = str(given["data"])
    return dataclasses.replace(saved_settings(out, kind) if resume else kind(), **given)


def _copy_of_standard_input(out: Path, may_replace: bool) -> Path:
    """Standard input as a file in the folder of the run, so that the run can be resumed without it."""
    if not may_replace:
        refuse_taken(out)
    copy = out / "documents.txt"
    with _saying_what_to_do():
        out.mkdir(parents=True, exist_ok=True)
        save_documents(sys.stdin.buffer, "standard input", copy)
    return copy


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _harmless(text: str) -> str:
    """The text with control characters escaped, because a terminal would execute them."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


@contextmanager
def _saying_what_to_do() -> Iterator[None]:
    """Turn a failure to write the first files of a run into a sentence that says what to do."""
    try:
        yield
    except OSError as error:
        fail(f"{file_sentence(error)} Nothing was trained: fix that, or choose another folder with --out.")


# --- while it trains ------------------------------------------------------------------------------


def _follow(run: Generator[Progress, None, None], steps: int, command: str, quiet: bool) -> None:
    """Show a run's progress on stderr until it ends. Ctrl-C stops it, saves it and says how to resume it."""
    console = Console(stderr=True, highlight=False, quiet=quiet)
    last: Progress | None = None
    with StopRequest() as stop, closing(run), _Display(console, steps) as show, _saying_how_to_go_on(command):
        for last in run:
            show(last)
            if stop.made:
                run.close()
                break
    if last is None:
        console.print(f"All {steps} steps were done already.")
    elif last.step < steps:
        _fail_stopped(last.step, steps, command, stop.status)


def _watch(
    settings: GPTSettings | MoonsSettings, out: Path, command: str, *, resume: bool, force: bool, no_browser: bool
) -> None:
    """Serve the page of a run until Ctrl-C, and say how to resume the run when it is not finished by then."""
    from ..explorer.live import Live
    from ..explorer.page import bundle
    from ..explorer.session import session_for

    bundle("live.js")  # raises BundleMissingError before the run begins
    with _saying_what_to_do():
        session = session_for(settings, out, resume, force)
    live = Live(session)
    console = Console(stderr=True, highlight=False)
    console.print(f"The training is at {live.address}", soft_wrap=True)
    console.print("The address is a secret between you and this machine. Ctrl-C saves and ends it.")
    with StopRequest() as stop, _saying_how_to_go_on(command):
        if not no_browser:
            webbrowser.open(live.address)
        live.run(lambda: stop.made)
    if session.done < session.steps:
        _fail_stopped(session.done, session.steps, command, stop.status)


@contextmanager
def _saying_how_to_go_on(command: str) -> Iterator[None]:
    """Turn an error that ends a run early into a sentence that says how to resume it."""
    try:
        yield
    except OSError as error:
        fail(
            f"{file_sentence(error)} The run's last checkpoint is kept; "
            f"fix that, then resume with: retrograd train {command} --resume"
        )
    except KeyboardInterrupt:
        fail(
            f"interrupted at once; the run's last checkpoint is kept: retrograd train {command} --resume",
            INTERRUPTED,
        )


def _fail_stopped(step: int, steps: int, command: str, status: int) -> NoReturn:
    fail(f"stopped after step {step} of {steps}, and saved; resume with: retrograd train {command} --resume", status)


class _Display:
    """A progress bar in a terminal, and ten or so plain lines anywhere else."""

    def __init__(self, console: Console, steps: int) -> None:
        self._console, self._steps = console, steps
        self._bar: Bar | None = None
        self._told = 0.0

    def __enter__(self) -> Callable[[Progress], None]:
        if not self._console.is_terminal:
            return self._line
        self._bar = Bar(
            TextColumn("step {task.completed}/{task.total}"),
            BarColumn(bar_width=None, complete_style=plots.PLUS_COLOUR, finished_style=plots.PLUS_COLOUR),
            TextColumn("{task.fields[news]}"),
            TimeRemainingColumn(),
            console=self._console,
            expand=True,
            refresh_per_second=5,
        )
        self._task = self._bar.add_task("", total=self._steps, news="")
        self._bar.start()
        return self._advance

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _advance(self, progress: Progress) -> None:
        """Update the bar a few times a second: it redraws five times a second, and each update costs time."""
        assert self._bar is not None
        now = time.monotonic()
        if now - self._told < 0.05 and progress.step not in (1, self._steps):
            return
        self._told = now
        self._bar.update(self._task, completed=progress.step, news=_news(progress))

    def _line(self, progress: Progress) -> None:
        every = -(-self._steps // 10)
        if progress.step % every == 0 or progress.step in (1, self._steps):
            self._console.print(f"step {progress.step}/{self._steps}  {_news(progress)}")


def _news(progress: Progress) -> str:
    accuracy = "" if progress.accuracy is None else f"  right {progress.accuracy:.0%}"
    rate = f"{progress.rate:.0f}/s" if progress.rate >= 10 else f"{progress.rate:.2g}/s"
    return f"loss {progress.loss:.4f}{accuracy}  {rate}  {progress.tier}"


# --- when it has ended ----------------------------------------------------------------------------


def _show_losses(out: Path, quiet: bool) -> None:
    """The loss curve in the terminal and as a PNG beside the log."""
    log = read_log(out)
    losses = [float(entry["loss"]) for entry in log]
    if not losses:
        return
    console = OutputConsole(highlight=False, quiet=quiet)
    window = max(1, len(losses) // 20)
    means = plots.running_means(losses, window)
    averaged = "" if window == 1 else f" (means of {window} steps)"
    if not quiet:
        print(f"Loss{averaged}: from {means[0]:.4f} to {means[-1]:.4f}")
    for line in plots.curve(means, min(console.width, 100), ascii_only=_ascii_only(console)):
        console.print(line, markup=False, no_wrap=True)
    _write_picture(
        out / "loss.png", lambda path: plots.save_curve(path, [entry["step"] for entry in log], losses), quiet
    )


def _show_boundary(out: Path, quiet: bool) -> None:
    """The moons and the network's decision for the plane around them, in the terminal and as a PNG."""
    model, points, labels = load_moons(out)
    console = OutputConsole(highlight=False, quiet=quiet)

    def score(x: float, y: float) -> float:
        return float(model([x, y]).data)

    with no_grad():
        for line in plots.boundary(score, points, labels, min(console.width, 72), ascii_only=_ascii_only(console)):
            console.print(line)
        _write_picture(out / "boundary.png", lambda path: plots.save_boundary(path, score, points, labels), quiet)


def _ascii_only(console: Console) -> bool:
    return not console.encoding.lower().startswith("utf")


def _write_picture(path: Path, draw: Callable[[Path], None], quiet: bool) -> None:
    try:
        draw(path)
        says = f"Written: {path}"
    except MissingExtraError as error:
        says = f"No {path.name}: {error}."
    except OSError as error:
        path.unlink(missing_ok=True)
        says = f"No {path.name}: {file_sentence(error)}"
    if not quiet:
        print(says)
