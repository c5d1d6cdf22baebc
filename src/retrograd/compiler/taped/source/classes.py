"""What ``super()`` stands for."""

from __future__ import annotations

import ast
from typing import Any

from ..frame import Frame
from ..ir.arithmetic import Typed
from ..types import Instance, NotTypedError

__all__ = ["is_super", "of_super"]


def is_super(f: Frame, node: ast.expr) -> bool:
    """Whether an expression is ``super()``."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    return is_call and f.owner("super") is None and "super" not in f.function.__globals__


def of_super(f: Frame) -> tuple[Typed, type, Any]:
    """The instance whose method is followed, its class, and the class after which ``super()`` looks."""
    while f.outer is not None:
        f = f.outer
    code = f.function.__code__
    of = f.read(code.co_varnames[0]) if code.co_argcount else None
    if of is None or "__class__" not in code.co_freevars or not isinstance(of.kind, Instance):
        raise NotTypedError("it calls super() otherwise than in a method")
    return of, of.kind.layout.kind, f.program.reads.named(f.function, "__class__")[1]
