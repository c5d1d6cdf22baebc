"""An integrator that chooses its steps: steps are rejected by an exception, and a loop ends where the data say so."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.parts import require

import retrograd as rg
from retrograd import Value
from retrograd.compiler.reports.reasons import Reason

pytestmark = pytest.mark.native


class RejectedError(Exception):
    def __init__(self, error: Any) -> None:
        super().__init__("the step was too long")
        self.error = error


def step(speed: Any, dt: Any, burning: bool, thrust: Any) -> tuple[Any, Any]:
    def rate(v: Any) -> Any:
        force = -0.5 * v * abs(v)
        return force + thrust if burning else force - 1.0

    first = rate(speed)
    euler = speed + first * dt
    heun = speed + 0.5 * (first + rate(euler)) * dt
    error = abs(heun - euler)
    if error > 0.02:
        raise RejectedError(error)
    return heun, error


def apogee(thrust: Any, burnout: Any) -> Any:
    speed: Any = 0.0
    height: Any = 0.0
    time: Any = 0.0
    dt: Any = 0.05
    burning = True
    while time < 20.0:
        if burning and time + dt >= burnout:
            used, last = burnout - time, True
        else:
            used, last = dt, False
        try:
            new, error = step(speed, used, burning, thrust)
        except RejectedError as rejected:
            dt = used * max(0.3, 0.9 * rg.math.sqrt(0.02 / rejected.error))
            continue
        if not burning and new <= 0.0:
            return height + used * 0.5 * speed
        time += used
        height, speed = height + used * 0.5 * (speed + new), new
        if last:
            burning, dt = False, 0.05
        else:
            dt = min(used * min(2.0, 0.9 * rg.math.sqrt(0.02 / (error + 1e-9))), 2.0)
    return height


def test_programs_are_known_by_the_code_that_they_were_traced_from() -> None:
    """Else a call that leaves one of them is not tried on the others: it was traced, and ran eagerly even so."""
    require("llvmlite")
    compiled = rg.compile(apogee)
    draw = random.Random(1)
    for _ in range(40):
        ours = [Value(draw.uniform(1.5, 2.5)), Value(draw.uniform(1.0, 1.4))]
        theirs = [Value(one.data) for one in ours]
        value, expected = compiled.backward(*ours), apogee(*theirs)
        expected.backward()
        assert value == pytest.approx(expected.data, rel=1e-10)
        assert [one.grad for one in ours] == pytest.approx([one.grad for one in theirs], rel=1e-7)
    assert Reason.INVALIDATED.value not in compiled.stats().reasons
