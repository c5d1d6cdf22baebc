"""An American put, and its Greeks

The right to sell a share at a fixed price at any time is priced on a binomial tree, backward in time: at each node
the holder sells or waits, whichever is worth more. One backward pass through the tree gives how the price answers
to the share, the volatility, the interest rate and the time. Each is compared with central differences, and without
the early exercise, with the formula of Black and Scholes.
"""

import math
import sys

import retrograd as rg
from retrograd.math import exp, sqrt

STEPS = 120
MARKET = {"share": 100.0, "strike": 105.0, "rate": 0.05, "volatility": 0.25, "years": 1.0}


def price(market, early=True):
    """The value today, by Cox, Ross and Rubinstein (1979)."""
    dt = market["years"] / STEPS
    up = exp(market["volatility"] * sqrt(dt))
    growth, discount = exp(market["rate"] * dt), exp(-market["rate"] * dt)
    chance = (growth - 1 / up) / (up - 1 / up)
    shares = [market["share"] * up ** (STEPS - 2 * k) for k in range(STEPS + 1)]
    values = [rg.maximum(market["strike"] - share, 0.0) for share in shares]
    for step in reversed(range(STEPS)):
        values = [discount * (chance * values[k] + (1 - chance) * values[k + 1]) for k in range(step + 1)]
        if early:
            shares = [market["share"] * up ** (step - 2 * k) for k in range(step + 1)]
            values = [rg.maximum(value, market["strike"] - share) for value, share in zip(values, shares, strict=True)]
    return values[0]


def differences(market, early, width=1e-5):
    """The same Greeks by two further prices each."""
    greeks = {}
    for name, number in market.items():
        high, low = ({**market, name: number * (1 + side * width)} for side in (1, -1))
        greeks[name] = (price(high, early) - price(low, early)) / (2 * number * width)
    return greeks


def black_scholes(market):
    """The price of the European put in closed form."""
    share, strike, rate, volatility, years = market.values()
    spread = volatility * math.sqrt(years)
    d1 = (math.log(share / strike) + (rate + volatility**2 / 2) * years) / spread
    below = lambda x: (1 + math.erf(x / math.sqrt(2))) / 2  # noqa: E731
    return strike * math.exp(-rate * years) * below(spread - d1) - share * below(-d1)


def main(picture=""):
    value, greeks = rg.value_and_grad(price)(MARKET)
    checked = differences(MARKET, early=True)
    print(f"American put: {value:.4f}")
    for name, greek in greeks.items():
        print(f"  by {name:10} {greek:9.4f}   differences {checked[name]:9.4f}")
        assert abs(greek - checked[name]) < 1e-4 * (1 + abs(greek))
    european = price(MARKET, early=False)
    assert abs(european - black_scholes(MARKET)) < 0.02
    print(f"European put: {european:.4f}, by Black and Scholes {black_scholes(MARKET):.4f}")
    if picture:
        draw(picture)


def draw(path):
    from matplotlib import pyplot

    shares = [70.0 + 2.0 * k for k in range(36)]
    found = [rg.value_and_grad(price)({**MARKET, "share": share}) for share in shares]
    _, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3))
    left.plot(shares, [value for value, _ in found], label="worth today")
    left.plot(shares, [max(MARKET["strike"] - share, 0) for share in shares], label="worth when sold now")
    left.set(title="American put", xlabel="price of the share")
    left.legend()
    right.plot(shares, [greeks["share"] for _, greeks in found], label="delta: by the share")
    right.plot(shares, [greeks["volatility"] / 100 for _, greeks in found], label="vega / 100")
    right.set(title="Greeks", xlabel="price of the share")
    right.legend()
    pyplot.savefig(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
