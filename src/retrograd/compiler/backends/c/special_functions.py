"""The functions that a C file defines itself, since C's library lacks them: those of native/ops/special.cpp."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["special_functions"]

_BERNOULLI = """\
static const double retrograd_bernoulli[] = {
    1.0 / 6.0, -1.0 / 30.0,     1.0 / 42.0,      -1.0 / 30.0,       5.0 / 66.0,       -691.0 / 2730.0,
    7.0 / 6.0, -3617.0 / 510.0, 43867.0 / 798.0, -174611.0 / 330.0, 854513.0 / 138.0, -236364091.0 / 2730.0,
};
"""

_DIGAMMA = """\
/* The derivative of lgamma. */
static double retrograd_digamma(double x) {
  const double pi = 3.141592653589793;
  double shift = 0.0, reflected = 0.0, power, square, series = 0.0;
  if (x <= 0.0) {
    const double nearest = floor(x + 0.5);
    if (x == nearest) return NAN;
    reflected = pi / tan(pi * (x - nearest));
    x = 1.0 - x;
  }
  for (; x < 10.0; x += 1.0) shift += 1.0 / x;
  square = power = 1.0 / (x * x);
  for (int k = 1; k <= 12; ++k, power *= square) series += retrograd_bernoulli[k - 1] / (2.0 * k) * power;
  return ((log(x) - 0.5 / x) - series) - shift - reflected;
}
"""

_POLYGAMMA = """\
/* The n-th derivative of cot(pi x), from the polynomial in cot that it is. */
static double retrograd_cotangent(int n, double x) {
  const double pi = 3.141592653589793, cotangent = 1.0 / tan(pi * x);
  double now[104] = {0.0, 1.0}, next[104], result = 0.0;
  for (int degree = 1; degree <= n; ++degree) {
    memset(next, 0, sizeof next);
    for (int k = 1; k <= degree; ++k) {
      next[k - 1] += k * now[k];
      next[k + 1] += k * now[k];
    }
    for (int k = 0; k < n + 3; ++k) now[k] = -pi * next[k];
  }
  for (int k = n + 1; k >= 0; --k) result = result * cotangent + now[k];
  return result;
}

/* The derivative of digamma, taken order times: a whole number up to 100. */
static double retrograd_polygamma(double order, double x) {
  const double sign = fmod(order, 2.0) == 1.0 ? 1.0 : -1.0, exponent = order + 1.0;
  double factorial = 1.0, shift = 0.0, ratio, series, square, power = 1.0;
  if (order != floor(order) || order < 0.0 || order > 100.0) return NAN;
  if (order == 0.0) return retrograd_digamma(x);
  if (x <= 0.0) {
    const double nearest = floor(x + 0.5);
    if (x == nearest || isinf(x)) return NAN;
    return -sign * retrograd_polygamma(order, 1.0 - x) -
           3.141592653589793 * retrograd_cotangent((int)order, x - nearest);
  }
  for (int k = 2; k <= order; ++k) factorial *= k;
  for (; x < 10.0 + order; x += 1.0) shift += 1.0 / pow(x, exponent);
  square = 1.0 / (x * x);
  ratio = factorial / order;
  series = ratio + factorial * 0.5 / x;
  for (int k = 1; k <= 12; ++k) {
    const double top = 2.0 * k + order - 1.0;
    ratio = ratio * top / (2.0 * k) * (top - 1.0) / (2.0 * k - 1.0);
    power *= square;
    series += retrograd_bernoulli[k - 1] * ratio * power;
  }
  return sign * (series / pow(x, order) + factorial * shift);
}
"""


def special_functions(lines: Iterable[str]) -> list[str]:
    """The definitions of those that some lines of C call."""
    called = set(re.findall(r"\bretrograd_(?:digamma|polygamma)\b", "\n".join(lines)))
    if not called:
        return []
    return [_BERNOULLI, _DIGAMMA, *([_POLYGAMMA] if "retrograd_polygamma" in called else [])]
