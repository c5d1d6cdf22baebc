"""How the benchmarks measure: interleaved runs, the collector's state, resident memory, the machine in a line."""

from __future__ import annotations

import gc
import math
import os
import platform
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from retrograd.errors import RetrogradError

__all__ = [
    "Contender",
    "Race",
    "available_memory",
    "beside_modules",
    "collector",
    "deep_recursion",
    "in_fresh_process",
    "installed",
    "interleaved",
    "machine",
    "optional",
    "print_over_c",
    "race",
    "resident_memory",
    "same",
    "system_time",
    "timed",
]

#: The checkout: the benchmarks run from it, and are in no wheel.
ROOT = Path(__file__).resolve().parents[1]

Phases = Mapping[str, float]  # the name of a phase -> nanoseconds


@contextmanager
def collector(on: bool) -> Iterator[None]:
    """Python's cyclic collector at its default thresholds, or quite off: collected, frozen, disabled."""
    enabled = gc.isenabled()
    gc.collect()
    if on:
        gc.enable()
    else:
        gc.freeze()
        gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        (gc.enable if enabled else gc.disable)()


@contextmanager
def deep_recursion(depth: int = 1_000_000) -> Iterator[None]:
    """Let recursive peers walk graphs as deep as ours are swept."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, depth))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@dataclass(frozen=True)
class Contender:
    """One program under measurement: what to run, how often, and with the collector on or off."""

    name: str
    run: Callable[[], Phases]
    rounds: int
    collector_on: bool = True


def interleaved(contenders: Sequence[Contender]) -> dict[str, dict[str, float]]:
    """Run the contenders in turns; for each the minimum of every phase over its rounds, in nanoseconds.

    Taking turns lets a slow spell of the machine fall on all of them, and the minimum is what the
    work costs when nothing else disturbs it.
    """
    best: dict[str, dict[str, float]] = {contender.name: {} for contender in contenders}
    for turn in range(max(contender.rounds for contender in contenders)):
        for contender in contenders:
            if turn >= contender.rounds:
                continue
            with collector(contender.collector_on), deep_recursion():
                phases = contender.run()
            kept = best[contender.name]
            for phase, spent in phases.items():
                kept[phase] = min(spent, kept.get(phase, spent))
    return best


def timed(call: Callable[[], Any], times: int) -> Callable[[], dict[str, float]]:
    """A turn of some calls: nanoseconds a call."""

    def run() -> dict[str, float]:
        start = perf_counter_ns()
        for _ in range(times):
            call()
        return {"call": (perf_counter_ns() - start) / times}

    return run


@dataclass(frozen=True)
class Race:
    """What contenders took in each of some rounds, in nanoseconds a step."""

    rounds: Mapping[str, Sequence[float]]

    def typical(self, name: str) -> float:
        """The median over the rounds."""
        return statistics.median(self.rounds[name])

    def ratio(self, name: str, other: str) -> float:
        """The median of the rounds' ratios: a slow spell of the machine falls on both sides of a round."""
        pairs = zip(self.rounds[name], self.rounds[other], strict=True)
        return statistics.median(mine / theirs for mine, theirs in pairs)


def race(contenders: Mapping[str, Callable[[int], float]], rounds: int) -> Race:
    """Let contenders that advance (training, say) take turns; each is called with the number of the round.

    The order of a round is drawn: who always came after the same one would always find its caches and its core's sleep.
    """
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    draw = random.Random(rounds)
    for turn in range(rounds):
        for name in draw.sample(list(contenders), len(contenders)):
            taken[name].append(contenders[name](turn))
    return Race(taken)


def print_over_c(rows: Iterable[tuple[str, Mapping[str, float], str]], ours: str, turns: int) -> None:
    """Print what each contender takes on each program, ours over the better C, and the geometric mean.

    Args:
        rows: of each program its name, microseconds by contender, and what else there is to say.
        ours: which contender is compared.
        turns: of how many turns the figures are the minimum.
    """
    ratios = []
    for name, figures, remark in rows:
        line = "  ".join(f"{contender} {microseconds:9.2f} µs" for contender, microseconds in figures.items())
        peers = [figures[peer] for peer in ("C by hand", "CasADi's C") if peer in figures]
        if peers:
            ratios.append(figures[ours] / min(peers))
            line += f"  {ours} / C {ratios[-1]:6.2f}"
        print(f"{name:18} {line}  {remark}", flush=True)
    if ratios:
        print(f"geometric mean of {ours} / C: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    print(f"Minimum of {turns} turns, collector off; CasADi and gcc where installed.")


def optional(module: str) -> Any | None:
    """A peer's module, or None where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


def installed(package: str) -> bool:
    """Whether a package is there, found without importing it: a large one would slow every later collection."""
    return find_spec(package) is not None


def same(what: str, ours: Sequence[float], theirs: Sequence[float], tolerance: float = 1e-9) -> None:
    """Insist that two contenders compute the same thing, since a race between different works means nothing.

    Raises ArithmeticError, naming the first pair that differs by more than ``tolerance`` (relative).
    """
    if len(ours) != len(theirs):
        raise ArithmeticError(
            f"{what}: ours gives {len(ours)} numbers and the peer {len(theirs)}; nothing was measured"
        )
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if not abs(a - b) <= tolerance * max(1.0, abs(a), abs(b)):
            raise ArithmeticError(
                f"{what}: number {i} is {a!r} with ours and {b!r} with the peer; nothing was measured"
            )


def system_time() -> float:
    """Nanoseconds that the system has worked for this process, such as handing out memory (0 where it is unknown)."""
    if sys.platform == "win32":
        return 0.0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_stime * 1e9


def resident_memory() -> int:
    """The bytes of this process that are in memory now (on systems without /proc, the most there ever were)."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource  # not on Windows, which has neither

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def available_memory() -> int | None:
    """The bytes that could still be allocated, or None where the system does not say."""
    meminfo = Path("/proc/meminfo")
    if not meminfo.exists():
        return None
    lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
    return int(lines["MemAvailable"].split()[0]) * 1024


def in_fresh_process(module: str, *arguments: str, given: str | None = None) -> list[float]:
    """The numbers that ``python -m module arguments`` prints, run by this interpreter, with ``given`` as its input.

    Raises RetrogradError, with the end of what it said, when it fails.
    """
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise RetrogradError(f"{' '.join(command)} failed with status {done.returncode}: {done.stderr.strip()[-500:]}")
    return [float(number) for number in done.stdout.split()]


def beside_modules(
    spent: Callable[[str, Sequence[str]], float], runs: Mapping[str, int], every: bool
) -> Iterator[tuple[str, dict[str, float]]]:
    """What contenders take in processes that have imported ever more of PyTorch and JAX, where they are installed.

    What else a process holds decides what Python's collector costs. Yields the modules in words and ``spent(contender,
    modules)`` for each of ``runs``, the least of so many; without ``every`` only beside all modules, which comes last.
    """
    others = [module for module in ("torch", "jax") if installed(module)]
    for count in range(0 if every else len(others), len(others) + 1):
        beside = others[:count]
        least = {name: min(spent(name, beside) for _ in range(times)) for name, times in runs.items()}
        yield " and ".join(beside) or "nothing", least


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def machine() -> dict[str, str]:
    """What the figures were taken on: processor, cores, load, system, versions."""
    engine = import_module("retrograd.engine")
    facts = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "engine": engine.ENGINE,
    }
    for name in ("retrograd", "numpy", "xad", "micrograd"):
        try:
            facts[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            facts[name] = "not installed"
    return facts
