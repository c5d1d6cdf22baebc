"""Real work, each against a reference: an option and its Greeks, a rate fitted to measurements, a camera found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .... import math as vmath
from ....autodiff.transforms import hessian
from ....compiler import compile as compiled_function
from ....engine import Value
from ....trace.callgraph import record_calls
from ..figures import Figure
from .networks import operations

__all__ = ["bundle", "decay", "option"]

#: Of the option: the price of the share, the strike, the interest rate, the volatility, the years.
MARKET = {"S": 100.0, "K": 105.0, "r": 0.03, "sigma": 0.2, "T": 0.5}


def call_price(S: Any, K: Any, r: Any, sigma: Any, T: Any) -> Any:  # noqa: N803  (as the textbooks call them)
    """The price of a European call by Black and Scholes."""
    d1, d2 = d1_and_d2(S, K, r, sigma, T)
    return S * normal(d1) - K * discount(r, T) * normal(d2)


def d1_and_d2(S: Any, K: Any, r: Any, sigma: Any, T: Any) -> tuple[Any, Any]:  # noqa: N803
    """What the textbooks call d1 and d2: how far the share is above the strike, in its usual swings."""
    spread = sigma * vmath.sqrt(T)
    d1 = (vmath.log(S / K) + (r + sigma * sigma / 2) * T) / spread
    return d1, d1 - spread


def discount(r: Any, T: Any) -> Any:  # noqa: N803
    """What one unit, paid in T years, is worth now."""
    return vmath.exp(-r * T)


def normal(x: Any) -> Any:
    """The probability that a standard normal number is below x."""
    return (1 + vmath.erf(x / math.sqrt(2.0))) / 2


def option(name: str) -> Figure:
    """The option's price as a graph; its Greeks are the gradient. Beside them, what the closed formulas say."""
    leaves = {key: Value(value, label=key) for key, value in MARKET.items()}
    with record_calls() as calls:
        price = call_price(**leaves)
    price.label = "price"
    figure = Figure(name, price, leaves, "a call option", "", calls, True)
    delta, vega = figure.node("S").grad or 0.0, figure.node("sigma").grad or 0.0
    second = hessian(lambda p: call_price(**p))(MARKET)
    facts: dict[str, Any] = {
        "operations": operations(price),
        "delta": delta,
        "vega": vega,
        "gamma": second["S"]["S"],
        "worst": max(abs(x - y) for x, y in zip((delta, vega, second["S"]["S"]), closed_greeks(), strict=True)),
    }
    return replace(figure, facts=facts)


def closed_greeks() -> tuple[float, float, float]:
    """Delta, vega and gamma of the option by their own formulas."""
    S, K, r, sigma, T = MARKET.values()  # noqa: N806
    spread = sigma * math.sqrt(T)
    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / spread
    density = math.exp(-d1 * d1 / 2) / math.sqrt(2 * math.pi)
    return (1 + math.erf(d1 / math.sqrt(2))) / 2, S * density * math.sqrt(T), density / (S * spread)


#: Of the decay: the true rate, the first amount, the time between two measurements and their number.
TRUE_RATE, FIRST, PAUSE, MEASURED = 0.7, 2.0, 0.5, 4
#: Where the search begins, how long its steps are, and how many it makes.
GUESS, DECAY_RATE, DECAY_STEPS = 0.3, 0.05, 60


def decay_loss(k: Any) -> Any:
    """How far the solution of x' = -k x is from the measurements: two steps of Heun's method between each two."""
    x: Any = FIRST
    loss: Any = 0.0
    for number in range(1, MEASURED + 1):
        x = two_steps(x, k)
        loss = loss + miss(x, measured(number))
    return loss


def two_steps(x: Any, k: Any) -> Any:
    """The amount at the next measurement, by two steps of the solver."""
    for _ in range(2):
        x = heun_step(x, k, PAUSE / 2)
    return x


def miss(x: Any, seen: float) -> Any:
    """How far a computed number is from a measured one, squared."""
    return (x - seen) ** 2


def heun_step(x: Any, k: Any, h: float) -> Any:
    """The amount a time h later."""
    slope = -k * x
    return x + h / 2 * (slope - k * (x + h * slope))


def measured(number: int) -> float:
    """What is measured: the exact solution at the true rate, to four digits."""
    return round(FIRST * math.exp(-TRUE_RATE * PAUSE * number), 4)


def decay(name: str) -> Figure:
    """A differential equation, solved in small steps, and its rate fitted to measurements."""
    leaves = {"k": Value(GUESS, label="k")}
    with record_calls() as calls:
        loss = decay_loss(**leaves)
    loss.label = "loss"
    facts: dict[str, Any] = {
        "true": TRUE_RATE,
        "guess": GUESS,
        "rate": DECAY_RATE,
        "steps": DECAY_STEPS,
        "operations": operations(loss),
        "fitted": _descended(decay_loss, {"k": GUESS}, DECAY_RATE, DECAY_STEPS)["k"],
    }
    return Figure(name, loss, leaves, "the rate of a decay", "", calls, True, facts)


#: Of the cameras: where the second one stands, and the points that both see; (sideways, ahead) from the first camera.
CAMERA = {"cx": 1.0, "cz": 0.2}  # how far it stands ahead, cz, is known; how far to the side is to be found
LANDMARKS = [(-0.5, 3.0), (0.8, 4.0), (1.5, 2.5)]
BUNDLE_RATE, BUNDLE_STEPS = 0.5, 1000


def bundle_loss(cx: Any, z1: Any, z2: Any, z3: Any) -> Any:
    """How far each point would appear from where the second camera sees it; one distance was measured with a rule."""
    loss: Any = miss(z1, LANDMARKS[0][1])
    for (side, ahead), z in zip(LANDMARKS, (z1, z2, z3), strict=True):
        direction = side / ahead  # in which the first camera sees the point: how far away it is, is not known
        seen = (side - CAMERA["cx"]) / (ahead - CAMERA["cz"])
        loss = loss + point(direction, z, cx, seen)
    return loss


def point(direction: float, z: Any, cx: Any, seen: float) -> Any:
    """How far a point would appear from where the second camera sees it, squared."""
    return miss((direction * z - cx) / (z - CAMERA["cz"]), seen)


def bundle(name: str) -> Figure:
    """Two cameras see three points: where the second one stands is found from the pictures and one measured distance.

    The pictures alone leave the scale open: with the camera and the points twice as far away they are the same.
    """
    truth = {"cx": CAMERA["cx"], **{f"z{number}": ahead for number, (_, ahead) in enumerate(LANDMARKS, start=1)}}
    guess = {"cx": 0.6, "z1": 3.3, "z2": 3.6, "z3": 2.7}
    leaves = {key: Value(value, label=key) for key, value in guess.items()}
    with record_calls() as calls:
        loss = bundle_loss(**leaves)
    loss.label = "loss"
    found = _descended(bundle_loss, guess, BUNDLE_RATE, BUNDLE_STEPS)
    facts: dict[str, Any] = {
        "operations": operations(loss),
        "unknown": len(guess),
        "start": loss.data,
        "steps": BUNDLE_STEPS,
        "true": CAMERA["cx"],
        "found": found["cx"],
        "worst": max(abs(found[key] - truth[key]) for key in truth),
    }
    return Figure(name, loss, leaves, "two cameras", "", calls, True, facts)


def _descended(loss: Callable[..., Any], guess: Mapping[str, float], rate: float, steps: int) -> dict[str, float]:
    """The numbers after so many steps downhill, by the compiled function."""
    fast = compiled_function(lambda values: loss(**dict(zip(guess, values, strict=True))))
    at = list(guess.values())
    for _ in range(steps):
        _, slopes = fast.value_and_grad(at)
        at = [value - rate * slope for value, slope in zip(at, slopes, strict=True)]
    return dict(zip(guess, at, strict=True))
