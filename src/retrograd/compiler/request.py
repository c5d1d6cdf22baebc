"""What the native compiler is asked to compile: one recorded call, how to read later calls, and the options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from .calls.signature import Signature
from .tracing.recording import Recording

__all__ = ["TIERS", "CompileRequest", "Options", "Tier"]

Tier = Literal["auto", "vm", "llvm", "interpreter"]
TIERS: tuple[Tier, ...] = get_args(Tier)


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller of ``compile`` chose."""

    exact: bool = False
    tier: Tier = "auto"
    verify: int = 0  #: each so many calls the function runs, too, and its result is compared; 0: never


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """One specialization to make. ``native/bindings/compile_request.cpp`` reads it, field by field.

    A leaf that the function made while it was traced is a constant of the program if only operations and the recording
    refer to it. One that anything else refers to may be used again, and is a parameter.
    """

    recording: Recording
    signature: Signature
    differentiate_first: bool  #: whether gradients are taken of the first argument instead of the parameters
    options: Options = Options()
    state: int = 0  #: the number of the captured state that the function was traced in
    code: int = 0  #: the number of the code that was traced, and of which arguments it reads: guards are alike for each
    at_once: bool = False  #: whether the program is made now; else when the function has run a few times
