"""Machine code that keeps the branches and loops of its function, as the native side runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backends.llvm.jit import load
from .constants import Leaf
from .entry import TapedProgram
from .packing import written_as

if TYPE_CHECKING:
    from ..._native import TapedCode

__all__ = ["loaded"]


def loaded(program: TapedProgram, compiled: bytes) -> TapedCode:
    """The code of a program, ready to run.

    Args:
        program: The program.
        compiled: The object file that its text was compiled to.
    """
    from ..._native import SpecializationCache, TapedCode  # the reference engine has none, and compiles nothing

    machine_code = load(compiled, ("run", "sweep"), SpecializationCache.special_functions())
    followed, addresses = program.program, machine_code.addresses
    kinds = (*(kind for kind, _ in followed.data.values()), *program.kinds)
    return TapedCode(
        addresses["run"],
        addresses["sweep"],
        program.words,
        tuple(written_as(followed, kind) for kind in kinds),
        tuple(followed.reads.data[key] for key in followed.data),
        *followed.reads.expected(),
        followed.reads.hold,
        Leaf,
        machine_code,
    )
