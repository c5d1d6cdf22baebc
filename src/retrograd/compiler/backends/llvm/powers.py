"""Powers with a literal exponent that is a small whole or half number: roots and products, where they are enough.

The code looks at the exponent and at the base each time: where the exponent is another one, or the base is not
positive and of ordinary size, the prebuilt kernel decides.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from .ir_builder import Mask, Text, Vector
from .kernel_calls import At, Call
from .vectors import collect, put

__all__ = ["backward", "forward"]

_SMALLEST, _LARGEST = 1e-60, 1e60  # cubes of these are still far from the ends of the range

Each = Callable[..., None]


def _root(a: Vector) -> Vector:
    return a.called("sqrt")


#: Whether a power is one of those, and how it is computed.
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


def _exponent(t: Text, call: Call) -> float | None:
    """The one exponent of the whole call, as it is now, if it has a form."""
    if any(stride and count > 1 for stride, count in zip(call.strides[2], call.counts, strict=True)):
        return None
    place = call.pointers[2]
    number = t.literals.get(place)  # in memory there may be another program's now
    if number is None:
        number = ctypes.c_double.from_address(place).value
    return number if number in _POWERS else None


def _vectors(t: Text, call: Call) -> int:
    count = -(-call.counts[4] // t.width)
    for n in call.counts[:4]:
        count *= n
    return count


def _ordinary(t: Text, call: Call, exponent: float, each: Each) -> str:
    """Whether the exponent is still the same and all bases are positive and of ordinary size."""
    b = t.load(call.at(2), 1)
    flags = [b.compare("oeq", exponent).any(1)]

    def look(places: list[At], count: int) -> None:
        a = collect(t, places[0], call.strides[1][4], count)
        inside: Mask = a.compare("oge", _SMALLEST).op("and", a.compare("ole", _LARGEST))
        outside = inside.op("xor", Mask(t, "splat (i1 true)" if inside.width > 1 else "true", inside.width))
        flags.append(t.op(f"xor i1 {outside.any(count)}, true"))

    each(t, call, (1,), look)
    result = flags[0]
    for flag in flags[1:]:
        result = t.op(f"and i1 {result}, {flag}")
    return result


def _either(t: Text, call: Call, each: Each, quick: Callable[[float], None]) -> bool:
    exponent = _exponent(t, call)
    if exponent is None or _vectors(t, call) > 8:
        return False
    condition = _ordinary(t, call, exponent, each)
    t.when(condition, lambda: quick(exponent), lambda: t.call_kernel(call))
    return True


def forward(t: Text, call: Call, each: Each) -> bool:
    sd, sa = call.strides[0][4], call.strides[1][4]

    def quick(exponent: float) -> None:
        def body(places: list[At], count: int) -> None:
            put(t, places[0], sd, _POWERS[exponent](collect(t, places[1], sa, count)), count, False)

        each(t, call, (0, 1), body)

    return _either(t, call, each, quick)


def backward(t: Text, call: Call, each: Each) -> bool:
    sd, sa, sy = (call.strides[w][4] for w in (0, 1, 3))
    if call.which != 0 or (sd == 0 and call.counts[4] > 1):
        return False

    def quick(exponent: float) -> None:
        def body(places: list[At], count: int) -> None:
            a = collect(t, places[1], sa, count)
            y, g = collect(t, places[2], sy, count), collect(t, places[3], sy, count)
            put(t, places[0], sd, g * (y / a) * exponent, count, call.accumulate)

        each(t, call, (0, 1, 3, 4), body)

    return _either(t, call, each, quick)
