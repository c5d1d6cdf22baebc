"""The programs written by hand in C, compiled by the system's compiler when they are first used.

They are timed inside C. Compilation goes to a temporary folder of this process and takes seconds; it is optimized for
this very processor (``-O3 -march=native -ffast-math``).
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograd.errors import RetrogradError

from . import gmm
from .documents import BETAS, EPSILON, RATE, VOCABULARY, Packed

__all__ = ["GPT", "Mixture", "Moons", "compiler"]

Floats = NDArray[np.float64]

SOURCES = Path(__file__).parent / "c"
OPTIMIZED = ("-O3", "-march=native", "-ffast-math")
INT, FLOAT, POINTER = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p


def compiler() -> list[str] | None:
    """The command of the system's C compiler, ``$CC`` first; None where there is none that understands our flags."""
    named = shlex.split(os.environ.get("CC", ""))
    for command in ([named] if named else []) + [["gcc"], ["clang"], ["cc"]]:
        if shutil.which(command[0]) is not None:
            return command
    return None


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="retrograd-bench-")


@cache
def _library(source: str, **macros: int) -> ctypes.CDLL:
    """The compiled program. Raises RetrogradError, with what the compiler said, when that fails."""
    command = compiler()
    if command is None:
        raise RetrogradError("there is no C compiler: install gcc or clang, or name one in CC.")
    name = "-".join([source, *(f"{value}" for value in macros.values())])
    compiled, linked = (str(Path(_folder().name, name + suffix)) for suffix in (".o", ".so"))
    defined = [f"-D{macro}={value}" for macro, value in macros.items()]
    _run([*command, "-c", "-std=gnu11", *OPTIMIZED, "-fPIC", *defined, str(SOURCES / f"{source}.c"), "-o", compiled])
    # Linked without -ffast-math, which would make the whole process flush small numbers to zero.
    _run([*command, "-shared", compiled, "-o", linked, "-lm"])
    return ctypes.CDLL(linked)


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RetrogradError(f"{shlex.join(command)} failed: {done.stderr.strip()[-1000:]}")


def _function(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(library, name)
    function.restype, function.argtypes = result, list(arguments)
    return function


def _address(array: NDArray[Any]) -> int:
    if not array.flags.c_contiguous:
        raise ValueError("C reads arrays that are contiguous; this one is not.")
    return array.ctypes.data


class GPT:
    """The scalar GPT with Adam; ``members`` documents make one step."""

    def __init__(self, parameters: Floats, n_embd: int, members: int) -> None:
        library = _library("gpt", VOCABULARY=VOCABULARY, EMBEDDING=n_embd, MEMBERS=members)
        self.members, self.steps = members, 0
        self._gradient = _function(library, "gpt_gradient", FLOAT, POINTER, POINTER)
        self._get = _function(library, "gpt_get", None, POINTER, POINTER)
        self._set = _function(library, "gpt_set", None, POINTER)
        self._train = _function(library, "gpt_train", INT, POINTER, POINTER, INT, INT, *[FLOAT] * 4, POINTER)
        self.size = _function(library, "gpt_parameters", INT)()
        if parameters.shape != (self.size,):
            raise ValueError(f"this model has {self.size} parameters; {parameters.shape} were given.")
        self._set(_address(parameters))

    def numbers(self) -> tuple[Floats, Floats]:
        """The parameters and the last gradient."""
        parameters, gradient = np.empty(self.size), np.empty(self.size)
        self._get(_address(parameters), _address(gradient))
        return parameters, gradient

    def gradient(self, documents: Packed) -> tuple[float, list[float]]:
        """The mean loss of one batch and its gradient; the parameters stay."""
        if documents.count != self.members:
            raise ValueError(f"a batch has {self.members} documents; {documents.count} were given.")
        loss = self._gradient(_address(documents.tokens), _address(documents.offsets))
        return loss, self.numbers()[1].tolist()

    def train(self, documents: Packed) -> tuple[float, list[float]]:
        """One step of Adam a batch: nanoseconds in all, and the losses."""
        steps = documents.count // self.members
        losses = np.empty(steps)
        spent = self._train(
            _address(documents.tokens), _address(documents.offsets), steps, self.steps + 1, RATE, *BETAS, EPSILON,
            _address(losses),
        )  # fmt: skip
        self.steps += steps
        return spent, losses.tolist()


class Moons:
    """micrograd's demo with gradient descent."""

    def __init__(self, points: Floats, labels: Floats, parameters: Floats) -> None:
        library = _library("moons")
        self._get = _function(library, "moons_get", None, POINTER, POINTER)
        self._train = _function(library, "moons_train", INT, INT, FLOAT, POINTER)
        self.size = _function(library, "moons_parameters", INT)()
        if parameters.shape != (self.size,) or points.shape != (100, 2) or labels.shape != (100,):
            raise ValueError(f"the moons are 100 points with labels, and {self.size} parameters.")
        _function(library, "moons_set", None, *[POINTER] * 3)(*map(_address, (points, labels, parameters)))

    def numbers(self) -> tuple[Floats, Floats]:
        """The parameters and the last gradient."""
        parameters, gradient = np.empty(self.size), np.empty(self.size)
        self._get(_address(parameters), _address(gradient))
        return parameters, gradient

    def train(self, steps: int, rate: float) -> tuple[float, list[float]]:
        """Some steps on all points: nanoseconds in all, and the losses."""
        losses = np.empty(steps)
        spent = self._train(steps, rate, _address(losses))
        return spent, losses.tolist()


class Mixture:
    """ADBench's Gaussian mixture and its gradient."""

    def __init__(self, problem: gmm.Mixture) -> None:
        clusters, dimensions = len(problem.means), len(problem.means[0])
        library = _library("gmm", DIMENSIONS=dimensions, CLUSTERS=clusters)
        block = _function(library, "gmm_block", INT)()
        count = len(problem.points)
        stride = -(-count // block) * block
        points = np.zeros((dimensions, stride))
        points[:, :count] = np.array(problem.points).T
        given = [np.array(numbers, dtype=np.float64) for numbers in problem.parameters]
        self._gradients = [np.zeros_like(array) for array in given]
        self._held = (points, *given)
        self._constant = problem.constant
        self._arguments = (
            *map(_address, (*given, points)), count, stride, problem.gamma, problem.m, *map(_address, self._gradients)
        )  # fmt: skip
        types = (*[POINTER] * 4, INT, INT, FLOAT, INT, *[POINTER] * 3)
        self._gradient = _function(library, "gmm_gradient", FLOAT, *types)
        self._time = _function(library, "gmm_time", INT, INT, *types)

    def gradient(self) -> tuple[float, list[float]]:
        """The objective and its gradient by alphas, means and icf in one row."""
        value = self._gradient(*self._arguments) + self._constant
        return value, np.concatenate([array.ravel() for array in self._gradients]).tolist()

    def time(self, times: int) -> float:
        """Nanoseconds of some evaluations one after the other."""
        spent: int = self._time(times, *self._arguments)
        return spent
