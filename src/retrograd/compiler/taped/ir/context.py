"""The words of the context, which every function of taped code is given, and the native side fills."""

from __future__ import annotations

__all__ = ["CONTEXT", "word"]

#: The tape (address, one less than its capacity, how much of it is used), the number of the last node, the memory for
#: lists (where it is free, its end), how many more iterations of loops there may be, how much deeper functions may call
#: themselves, and how far down the stack.
CONTEXT = {name: i for i, name in enumerate(("tape", "mask", "used", "nodes", "free", "end", "fuel", "depth", "stack"))}


def word(name: str, register: str) -> str:
    """The instruction that gives the address of a word of the context ``%c``."""
    return f"%{register} = getelementptr i64, ptr %c, i64 {CONTEXT[name]}"
