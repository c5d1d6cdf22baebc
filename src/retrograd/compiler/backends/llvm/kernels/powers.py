"""Powers with a constant exponent that is a small whole or half number, by square roots and products.

The code is guarded: where the exponent is another one at run time, since it may be a leaf, or a base is not positive
and of moderate size, it calls the prebuilt kernel.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir_builder import IRBuilder, Mask, Vector
from ..kernel_calls import Address, KernelCall
from ..vectors import load_strided, store_strided

__all__ = ["backward", "forward"]

#: Bases outside of this range go to the prebuilt kernel: fourth powers in it neither overflow nor become subnormal.
_SMALLEST, _LARGEST = 1e-60, 1e60

#: Calls of more vectors stay with the prebuilt kernel: all bases are checked before the first power is computed.
_MAX_VECTORS = 8

ForEachVector = Callable[..., None]


def _root(a: Vector) -> Vector:
    return a.intrinsic("sqrt")


#: The exponents with a formula.
_POWERS: dict[float, Callable[[Vector], Vector]] = {
    -2.0: lambda a: 1.0 / (a * a),
    -1.0: lambda a: 1.0 / a,
    -0.5: lambda a: 1.0 / _root(a),
    0.5: _root,
    1.0: lambda a: a,
    1.5: lambda a: a * _root(a),
    2.0: lambda a: a * a,
    3.0: lambda a: a * a * a,
    4.0: lambda a: (a * a) * (a * a),
}


def _exponent(t: IRBuilder, call: KernelCall) -> float | None:
    """The exponent of the whole call as it is now; None where there are several, or it has no formula."""
    if any(stride and count > 1 for stride, count in zip(call.strides[2], call.counts, strict=True)):
        return None
    address = call.pointers[2]
    number = t.memory.literals.get(address)
    if number is None:  # not a literal: what memory holds now may change, and is only a guess
        number = t.memory.exponents.get(address)
    return number if number in _POWERS else None


def _vectors(t: IRBuilder, call: KernelCall) -> int:
    """How many vectors the call computes."""
    count = -(-call.counts[4] // t.width)
    for n in call.counts[:4]:
        count *= n
    return count


def _guard(t: IRBuilder, call: KernelCall, exponent: float, for_each_vector: ForEachVector) -> str:
    """An i1: whether the exponent is still ``exponent`` and all bases are positive and of moderate size."""
    b = t.load(call.address(2), 1)
    flags = [b.compare("oeq", exponent).any(1)]

    def check(operands: list[Address], count: int) -> None:
        a = load_strided(t, operands[0], call.strides[1][4], count)
        inside: Mask = a.compare("oge", _SMALLEST).op("and", a.compare("ole", _LARGEST))
        outside = inside.op("xor", Mask(t, "splat (i1 true)" if inside.width > 1 else "true", inside.width))
        flags.append(t.emit(f"xor i1 {outside.any(count)}, true"))

    for_each_vector(t, call, (1,), check)
    result = flags[0]
    for flag in flags[1:]:
        result = t.emit(f"and i1 {result}, {flag}")
    return result


def _guarded(t: IRBuilder, call: KernelCall, for_each_vector: ForEachVector, fast: Callable[[float], None]) -> bool:
    """``fast`` where the guard holds, otherwise the prebuilt kernel."""
    exponent = _exponent(t, call)
    if exponent is None or _vectors(t, call) > _MAX_VECTORS:
        return False
    condition = _guard(t, call, exponent, for_each_vector)
    t.branch(condition, lambda: fast(exponent), lambda: t.call_kernel(call))
    return True


def forward(t: IRBuilder, call: KernelCall, for_each_vector: ForEachVector) -> bool:
    """MAP of pow."""
    sd, sa = call.strides[0][4], call.strides[1][4]

    def fast(exponent: float) -> None:
        def body(operands: list[Address], count: int) -> None:
            power = _POWERS[exponent](load_strided(t, operands[1], sa, count))
            store_strided(t, operands[0], sd, power, count, False)

        for_each_vector(t, call, (0, 1), body)

    return _guarded(t, call, for_each_vector, fast)


def backward(t: IRBuilder, call: KernelCall, for_each_vector: ForEachVector) -> bool:
    """MAP_BACK of pow by its base: g * exponent * y / a."""
    sd, sa, sy = (call.strides[w][4] for w in (0, 1, 3))
    if call.which != 0 or (sd == 0 and call.counts[4] > 1):
        return False

    def fast(exponent: float) -> None:
        def body(operands: list[Address], count: int) -> None:
            a = load_strided(t, operands[1], sa, count)
            y, g = load_strided(t, operands[2], sy, count), load_strided(t, operands[3], sy, count)
            store_strided(t, operands[0], sd, g * (y / a) * exponent, count, call.accumulate)

        for_each_vector(t, call, (0, 1, 3, 4), body)

    return _guarded(t, call, for_each_vector, fast)
