// The primitives of the op table: the C library's mathematics, and the few it lacks.
//
// `mod`, `floordiv`, `digamma` and `polygamma` are written with the same operations in the same
// order as in src/retrograd/engine/reference/libm.py, so that both engines agree bit for bit.
#pragma once

#include <cmath>
#include <vector>

namespace retrograd::primitive {

using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::cos;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::exp2;
using ::expm1;
using ::fmod;
using ::hypot;
using ::lgamma;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::pow;
using ::remainder;
using ::sin;
using ::sinh;
using ::tan;
using ::tanh;

// Exact operations, which the compiler may write as one instruction.
inline double abs(double a) { return __builtin_fabs(a); }
inline double sqrt(double a) { return __builtin_sqrt(a); }
inline double floor(double a) { return __builtin_floor(a); }
inline double ceil(double a) { return __builtin_ceil(a); }
inline double trunc(double a) { return __builtin_trunc(a); }
inline double rint(double a) { return __builtin_rint(a); }
inline double copysign(double a, double b) { return __builtin_copysign(a, b); }

inline double gamma(double a) { return ::tgamma(a); }  // C's gamma is lgamma on some systems

// Remainder with the sign of b, as Python's float.__mod__.
inline double mod(double a, double b) {
  double remainder = fmod(a, b);
  if (remainder != 0.0) {
    if ((b < 0.0) != (remainder < 0.0)) remainder += b;
    return remainder;
  }
  return __builtin_copysign(0.0, b);
}

// Quotient rounded down, as Python's float.__floordiv__.
inline double floordiv(double a, double b) {
  if (b == 0.0) return a / b;
  double remainder = fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0.0 && (b < 0.0) != (remainder < 0.0)) quotient -= 1.0;
  if (quotient == 0.0) return __builtin_copysign(0.0, a / b);
  double rounded = floor(quotient);
  return quotient - rounded > 0.5 ? rounded + 1.0 : rounded;
}

double digamma(double x);
double polygamma(double order, double x);

}  // namespace retrograd::primitive
