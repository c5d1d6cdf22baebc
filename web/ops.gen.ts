// Generated from src/retrograd/ops/table.py by tools/generate.py (make generate). Do not edit.
import { f_pow, f_mod, f_floordiv, f_fmod, f_remainder, f_exp, f_exp2, f_expm1, f_log, f_log2, f_log10, f_log1p, f_sqrt, f_cbrt, f_hypot, f_sin, f_cos, f_tan, f_asin, f_acos, f_atan, f_atan2, f_sinh, f_cosh, f_tanh, f_asinh, f_acosh, f_atanh, f_erf, f_erfc, f_lgamma, f_gamma, f_digamma, f_polygamma, f_abs, f_copysign, f_floor, f_ceil, f_trunc, f_rint } from "./src/model/special";
import type { NaryOp, Op, Style } from "./src/model/table";

function f_add(a: number, b: number): number { return (a + b); }
function f_sub(a: number, b: number): number { return (a - b); }
function f_mul(a: number, b: number): number { return (a * b); }
function f_div(a: number, b: number): number { return (a / b); }
function f_neg(a: number): number { return (-a); }
function f_square(a: number): number { return (a * a); }
function f_reciprocal(a: number): number { return (1.0 / a); }
function f_zero_product(a: number, b: number): number { return ((a === 0.0) ? 0.0 : (a * b)); }
function f_degrees(a: number): number { return (a * 57.29577951308232); }
function f_radians(a: number): number { return (a * 0.017453292519943295); }
function f_sigmoid(a: number): number { return ((a >= 0.0) ? (1.0 / (1.0 + f_exp((-a)))) : (f_exp(a) / (1.0 + f_exp(a)))); }
function f_softplus(a: number): number { return (((a > 0.0) ? a : 0.0) + f_log1p(f_exp((-f_abs(a))))); }
function f_relu(a: number): number { return ((a <= 0.0) ? 0.0 : a); }
function f_silu(a: number): number { return f_zero_product(f_sigmoid(a), a); }
function f_gelu(a: number): number { return f_zero_product((0.5 * f_erfc(((-a) * 0.7071067811865476))), a); }
function f_sign(a: number): number { return ((a > 0.0) ? 1.0 : ((a < 0.0) ? (-1.0) : a)); }
function f_round(a: number): number { return f_rint(a); }
function f_minimum(a: number, b: number): number { return (((a !== a) || (a <= b)) ? a : b); }
function f_maximum(a: number, b: number): number { return (((a !== a) || (a >= b)) ? a : b); }
function f_where(a: number, b: number, c: number): number { return ((a !== 0.0) ? b : c); }
function f_less(a: number, b: number): number { return ((a < b) ? 1.0 : 0.0); }
function f_less_equal(a: number, b: number): number { return ((a <= b) ? 1.0 : 0.0); }
function f_greater(a: number, b: number): number { return ((a > b) ? 1.0 : 0.0); }
function f_greater_equal(a: number, b: number): number { return ((a >= b) ? 1.0 : 0.0); }
function f_equal(a: number, b: number): number { return ((a === b) ? 1.0 : 0.0); }
function f_not_equal(a: number, b: number): number { return ((a !== b) ? 1.0 : 0.0); }
function f_sech2(a: number): number { return ((f_abs(f_tanh(a)) < 0.7072) ? (1.0 - (f_tanh(a) * f_tanh(a))) : ((4.0 * f_sigmoid((2.0 * a))) * f_sigmoid(((-2.0) * a)))); }
function f_logistic_slope(a: number): number { return (((a !== 0.0) && (f_abs(a) < 0.01)) ? (0.25 * (1.0 - (f_tanh((0.5 * a)) * f_tanh((0.5 * a))))) : (f_sigmoid(a) * f_sigmoid((-a)))); }
function f_identity(a: number): number { return a; }
function f_detach(a: number): number { return a; }

export const DIGEST = "d3e217b264f567f9";

export const OPS: readonly Op[] = [
  { name: "add", symbol: "+", card: "the distributor", doc: "Sum of two numbers.", aliases: [], public: true, static: [], forward: "a + b", partials: ["1", "1"], f: f_add, p: [(a, b, y) => 1.0, (a, b, y) => 1.0], domain: [] },
  { name: "sub", symbol: "-", card: "the distributor with a sign", doc: "a minus b.", aliases: ["subtract"], public: true, static: [], forward: "a - b", partials: ["1", "-1"], f: f_sub, p: [(a, b, y) => 1.0, (a, b, y) => (-1.0)], domain: [] },
  { name: "mul", symbol: "*", card: "the swapper", doc: "a times b.", aliases: ["multiply"], public: true, static: [], forward: "a * b", partials: ["b", "a"], f: f_mul, p: [(a, b, y) => b, (a, b, y) => a], domain: [] },
  { name: "div", symbol: "/", card: "", doc: "a divided by b.", aliases: ["divide", "true_divide"], public: true, static: [], forward: "a / b", partials: ["1 / b", "-y / b"], f: f_div, p: [(a, b, y) => (1.0 / b), (a, b, y) => ((-y) / b)], domain: [[(a, b, y) => (b === 0.0), "division by zero"]] },
  { name: "neg", symbol: "neg", card: "the mirror", doc: "Minus a.", aliases: ["negative"], public: true, static: [], forward: "-a", partials: ["-1"], f: f_neg, p: [(a, y) => (-1.0)], domain: [] },
  { name: "pow", symbol: "**", card: "", doc: "a to the power b. With a negative base only a constant whole exponent has a real derivative.", aliases: ["power"], public: true, static: [], forward: "pow(a, b)", partials: ["zero_product(b, pow(a, b - 1))", "select(a == 0 and (b == 0 or b > 1), 0, select(a == 0 and b > 0, zero_product(a, log(a) * exp(zero_product(b - 1, log(a)))), zero_product(y, log(a))))"], f: f_pow, p: [(a, b, y) => f_zero_product(b, f_pow(a, (b - 1.0))), (a, b, y) => !((a === 0.0) && ((b === 0.0) || (b > 1.0))) ? (((a === 0.0) && (b > 0.0)) ? f_zero_product(a, (f_log(a) * f_exp(f_zero_product((b - 1.0), f_log(a))))) : f_zero_product(y, f_log(a))) : null], domain: [[(a, b, y) => ((a === 0.0) && (b < 0.0) && (b !== (-Infinity))), "zero to a negative power"], [(a, b, y) => ((a < 0.0) && (a !== (-Infinity)) && (b === b) && (f_abs(b) !== Infinity) && (b !== f_floor(b))), "a negative number to a fractional power is not a real number"], [(a, b, y) => ((f_abs(y) === Infinity) && (a !== 0.0) && (f_abs(a) !== Infinity) && (f_abs(b) !== Infinity)), "the result is too large for a float"]] },
  { name: "mod", symbol: "%", card: "", doc: "Remainder with the sign of b, as Python's %.", aliases: [], public: true, static: [], forward: "mod(a, b)", partials: ["1", "-floordiv(a, b)"], f: f_mod, p: [(a, b, y) => 1.0, (a, b, y) => (-f_floordiv(a, b))], domain: [[(a, b, y) => (b === 0.0), "modulo by zero"]] },
  { name: "floordiv", symbol: "//", card: "", doc: "Quotient rounded down, as Python's //.", aliases: ["floor_divide"], public: true, static: [], forward: "floordiv(a, b)", partials: ["0", "0"], f: f_floordiv, p: [(a, b, y) => null, (a, b, y) => null], domain: [[(a, b, y) => (b === 0.0), "division by zero"]] },
  { name: "fmod", symbol: "fmod", card: "", doc: "Remainder with the sign of a, as C's fmod.", aliases: [], public: true, static: [], forward: "fmod(a, b)", partials: ["1", "select(y == y, -rint(a / b - y / b), -trunc(a / b))"], f: f_fmod, p: [(a, b, y) => 1.0, (a, b, y) => ((y === y) ? (-f_rint(((a / b) - (y / b)))) : (-f_trunc((a / b))))], domain: [[(a, b, y) => (((b === 0.0) || (f_abs(a) === Infinity)) && (a === a) && (b === b)), "no remainder exists"]] },
  { name: "remainder", symbol: "remainder", card: "", doc: "Distance from the nearest multiple of b, as Python's math.remainder and IEEE 754.", aliases: [], public: true, static: [], forward: "remainder(a, b)", partials: ["1", "select(y == y, -rint(a / b - y / b), -rint(a / b))"], f: f_remainder, p: [(a, b, y) => 1.0, (a, b, y) => ((y === y) ? (-f_rint(((a / b) - (y / b)))) : (-f_rint((a / b))))], domain: [[(a, b, y) => (((b === 0.0) || (f_abs(a) === Infinity)) && (a === a) && (b === b)), "no remainder exists"]] },
  { name: "square", symbol: "square", card: "", doc: "a times a.", aliases: [], public: true, static: [], forward: "a * a", partials: ["2 * a"], f: f_square, p: [(a, y) => (2.0 * a)], domain: [] },
  { name: "reciprocal", symbol: "reciprocal", card: "", doc: "One over a; infinite at zero.", aliases: [], public: true, static: [], forward: "1 / a", partials: ["-y * y"], f: f_reciprocal, p: [(a, y) => ((-y) * y)], domain: [] },
  { name: "zero_product", symbol: "*", card: "", doc: "", aliases: [], public: false, static: [], forward: "select(a == 0, 0, a * b)", partials: ["b", "a"], f: f_zero_product, p: [(a, b, y) => b, (a, b, y) => a], domain: [] },
  { name: "exp", symbol: "exp", card: "its own derivative", doc: "e to the power a.", aliases: [], public: true, static: [], forward: "exp(a)", partials: ["y"], f: f_exp, p: [(a, y) => y], domain: [[(a, y) => ((f_abs(y) === Infinity) && (f_abs(a) !== Infinity)), "the result is too large for a float"]] },
  { name: "exp2", symbol: "exp2", card: "", doc: "2 to the power a.", aliases: [], public: true, static: [], forward: "exp2(a)", partials: ["y * LN2"], f: f_exp2, p: [(a, y) => (y * 0.6931471805599453)], domain: [[(a, y) => ((f_abs(y) === Infinity) && (f_abs(a) !== Infinity)), "the result is too large for a float"]] },
  { name: "expm1", symbol: "expm1", card: "", doc: "exp(a) - 1, exact near zero.", aliases: [], public: true, static: [], forward: "expm1(a)", partials: ["exp(a)"], f: f_expm1, p: [(a, y) => f_exp(a)], domain: [[(a, y) => ((f_abs(y) === Infinity) && (f_abs(a) !== Infinity)), "the result is too large for a float"]] },
  { name: "log", symbol: "log", card: "", doc: "Natural logarithm.", aliases: [], public: true, static: [], forward: "log(a)", partials: ["1 / a"], f: f_log, p: [(a, y) => (1.0 / a)], domain: [[(a, y) => (a === 0.0), "the logarithm of zero"], [(a, y) => (a < 0.0), "the logarithm of a negative number"]] },
  { name: "log2", symbol: "log2", card: "", doc: "Logarithm to base 2.", aliases: [], public: true, static: [], forward: "log2(a)", partials: ["INV_LN2 / a"], f: f_log2, p: [(a, y) => (1.4426950408889634 / a)], domain: [[(a, y) => (a === 0.0), "the logarithm of zero"], [(a, y) => (a < 0.0), "the logarithm of a negative number"]] },
  { name: "log10", symbol: "log10", card: "", doc: "Logarithm to base 10.", aliases: [], public: true, static: [], forward: "log10(a)", partials: ["INV_LN10 / a"], f: f_log10, p: [(a, y) => (0.4342944819032518 / a)], domain: [[(a, y) => (a === 0.0), "the logarithm of zero"], [(a, y) => (a < 0.0), "the logarithm of a negative number"]] },
  { name: "log1p", symbol: "log1p", card: "", doc: "log(1 + a), exact near zero.", aliases: [], public: true, static: [], forward: "log1p(a)", partials: ["1 / (1 + a)"], f: f_log1p, p: [(a, y) => (1.0 / (1.0 + a))], domain: [[(a, y) => (a === (-1.0)), "the logarithm of zero"], [(a, y) => (a < (-1.0)), "the logarithm of a negative number"]] },
  { name: "sqrt", symbol: "sqrt", card: "", doc: "Square root; its derivative at zero is infinite.", aliases: [], public: true, static: [], forward: "sqrt(a)", partials: ["0.5 / y"], f: f_sqrt, p: [(a, y) => (0.5 / y)], domain: [[(a, y) => (a < 0.0), "the square root of a negative number"]] },
  { name: "cbrt", symbol: "cbrt", card: "", doc: "Cube root, of negative numbers too.", aliases: [], public: true, static: [], forward: "cbrt(a)", partials: ["1 / (3 * y) / y"], f: f_cbrt, p: [(a, y) => ((1.0 / (3.0 * y)) / y)], domain: [] },
  { name: "hypot", symbol: "hypot", card: "", doc: "sqrt(a*a + b*b) without overflow; its derivative at the origin is zero.", aliases: [], public: true, static: [], forward: "hypot(a, b)", partials: ["select(y == 0, 0, select(abs(a) >= abs(b), sign(a) / hypot(1, b / a), a / y))", "select(y == 0, 0, select(abs(b) >= abs(a), sign(b) / hypot(1, a / b), b / y))"], f: f_hypot, p: [(a, b, y) => !(y === 0.0) ? ((f_abs(a) >= f_abs(b)) ? (f_sign(a) / f_hypot(1.0, (b / a))) : (a / y)) : null, (a, b, y) => !(y === 0.0) ? ((f_abs(b) >= f_abs(a)) ? (f_sign(b) / f_hypot(1.0, (a / b))) : (b / y)) : null], domain: [] },
  { name: "sin", symbol: "sin", card: "", doc: "Sine of an angle in radians.", aliases: [], public: true, static: [], forward: "sin(a)", partials: ["cos(a)"], f: f_sin, p: [(a, y) => f_cos(a)], domain: [[(a, y) => (f_abs(a) === Infinity), "an infinite angle"]] },
  { name: "cos", symbol: "cos", card: "", doc: "Cosine of an angle in radians.", aliases: [], public: true, static: [], forward: "cos(a)", partials: ["-sin(a)"], f: f_cos, p: [(a, y) => (-f_sin(a))], domain: [[(a, y) => (f_abs(a) === Infinity), "an infinite angle"]] },
  { name: "tan", symbol: "tan", card: "", doc: "Tangent of an angle in radians.", aliases: [], public: true, static: [], forward: "tan(a)", partials: ["1 + y * y"], f: f_tan, p: [(a, y) => (1.0 + (y * y))], domain: [[(a, y) => (f_abs(a) === Infinity), "an infinite angle"]] },
  { name: "asin", symbol: "asin", card: "", doc: "Angle in radians whose sine is a.", aliases: ["arcsin"], public: true, static: [], forward: "asin(a)", partials: ["1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))"], f: f_asin, p: [(a, y) => (1.0 / f_sqrt((((f_abs(a) < 0.5) || (f_abs(a) === 1.0)) ? (1.0 - (a * a)) : ((1.0 - a) * (1.0 + a)))))], domain: [[(a, y) => (f_abs(a) > 1.0), "the arc sine of a number outside [-1, 1]"]] },
  { name: "acos", symbol: "acos", card: "", doc: "Angle in radians whose cosine is a.", aliases: ["arccos"], public: true, static: [], forward: "acos(a)", partials: ["-1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))"], f: f_acos, p: [(a, y) => ((-1.0) / f_sqrt((((f_abs(a) < 0.5) || (f_abs(a) === 1.0)) ? (1.0 - (a * a)) : ((1.0 - a) * (1.0 + a)))))], domain: [[(a, y) => (f_abs(a) > 1.0), "the arc cosine of a number outside [-1, 1]"]] },
  { name: "atan", symbol: "atan", card: "", doc: "Angle in radians whose tangent is a.", aliases: ["arctan"], public: true, static: [], forward: "atan(a)", partials: ["1 / (1 + a * a)"], f: f_atan, p: [(a, y) => (1.0 / (1.0 + (a * a)))], domain: [] },
  { name: "atan2", symbol: "atan2", card: "", doc: "Angle in radians of the point (b, a).", aliases: ["arctan2"], public: true, static: [], forward: "atan2(a, b)", partials: ["b / hypot(a, b) / hypot(a, b)", "-a / hypot(a, b) / hypot(a, b)"], f: f_atan2, p: [(a, b, y) => ((b / f_hypot(a, b)) / f_hypot(a, b)), (a, b, y) => (((-a) / f_hypot(a, b)) / f_hypot(a, b))], domain: [] },
  { name: "degrees", symbol: "degrees", card: "", doc: "Radians to degrees.", aliases: ["rad2deg"], public: true, static: [], forward: "a * RADIAN", partials: ["RADIAN"], f: f_degrees, p: [(a, y) => 57.29577951308232], domain: [] },
  { name: "radians", symbol: "radians", card: "", doc: "Degrees to radians.", aliases: ["deg2rad"], public: true, static: [], forward: "a * DEGREE", partials: ["DEGREE"], f: f_radians, p: [(a, y) => 0.017453292519943295], domain: [] },
  { name: "sinh", symbol: "sinh", card: "", doc: "Hyperbolic sine.", aliases: [], public: true, static: [], forward: "sinh(a)", partials: ["cosh(a)"], f: f_sinh, p: [(a, y) => f_cosh(a)], domain: [[(a, y) => ((f_abs(y) === Infinity) && (f_abs(a) !== Infinity)), "the result is too large for a float"]] },
  { name: "cosh", symbol: "cosh", card: "", doc: "Hyperbolic cosine.", aliases: [], public: true, static: [], forward: "cosh(a)", partials: ["sinh(a)"], f: f_cosh, p: [(a, y) => f_sinh(a)], domain: [[(a, y) => ((f_abs(y) === Infinity) && (f_abs(a) !== Infinity)), "the result is too large for a float"]] },
  { name: "tanh", symbol: "tanh", card: "the squasher", doc: "Hyperbolic tangent.", aliases: [], public: true, static: [], forward: "tanh(a)", partials: ["select(abs(y) < 0.7072, 1 - y * y, 4 * sigmoid(2 * a) * sigmoid(-2 * a))"], f: f_tanh, p: [(a, y) => ((f_abs(y) < 0.7072) ? (1.0 - (y * y)) : ((4.0 * f_sigmoid((2.0 * a))) * f_sigmoid(((-2.0) * a))))], domain: [] },
  { name: "asinh", symbol: "asinh", card: "", doc: "Inverse hyperbolic sine.", aliases: ["arcsinh"], public: true, static: [], forward: "asinh(a)", partials: ["1 / hypot(1, a)"], f: f_asinh, p: [(a, y) => (1.0 / f_hypot(1.0, a))], domain: [] },
  { name: "acosh", symbol: "acosh", card: "", doc: "Inverse hyperbolic cosine.", aliases: ["arccosh"], public: true, static: [], forward: "acosh(a)", partials: ["1 / select(a == 1, sqrt(a * a - 1), sqrt(a - 1) * sqrt(a + 1))"], f: f_acosh, p: [(a, y) => (1.0 / ((a === 1.0) ? f_sqrt(((a * a) - 1.0)) : (f_sqrt((a - 1.0)) * f_sqrt((a + 1.0)))))], domain: [[(a, y) => (a < 1.0), "the inverse hyperbolic cosine of a number below 1"]] },
  { name: "atanh", symbol: "atanh", card: "", doc: "Inverse hyperbolic tangent.", aliases: ["arctanh"], public: true, static: [], forward: "atanh(a)", partials: ["1 / select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a))"], f: f_atanh, p: [(a, y) => (1.0 / (((f_abs(a) < 0.5) || (f_abs(a) === 1.0)) ? (1.0 - (a * a)) : ((1.0 - a) * (1.0 + a))))], domain: [[(a, y) => (f_abs(a) >= 1.0), "the inverse hyperbolic tangent of a number outside (-1, 1)"]] },
  { name: "sigmoid", symbol: "sigmoid", card: "", doc: "Logistic function, 1 / (1 + exp(-a)).", aliases: ["expit"], public: true, static: [], forward: "select(a >= 0, 1 / (1 + exp(-a)), exp(a) / (1 + exp(a)))", partials: ["select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) * tanh(0.5 * a)), y * sigmoid(-a))"], f: f_sigmoid, p: [(a, y) => (((a !== 0.0) && (f_abs(a) < 0.01)) ? (0.25 * (1.0 - (f_tanh((0.5 * a)) * f_tanh((0.5 * a))))) : (y * f_sigmoid((-a))))], domain: [] },
  { name: "softplus", symbol: "softplus", card: "", doc: "log(1 + exp(a)).", aliases: [], public: true, static: [], forward: "select(a > 0, a, 0) + log1p(exp(-abs(a)))", partials: ["sigmoid(a)"], f: f_softplus, p: [(a, y) => f_sigmoid(a)], domain: [] },
  { name: "relu", symbol: "ReLU", card: "the gate", doc: "The larger of a and zero; its derivative at zero is zero.", aliases: [], public: true, static: [], forward: "select(a <= 0, 0, a)", partials: ["select(a <= 0, 0, 1)"], f: f_relu, p: [(a, y) => !(a <= 0.0) ? 1.0 : null], domain: [] },
  { name: "silu", symbol: "silu", card: "", doc: "a times sigmoid(a), also called swish.", aliases: [], public: true, static: [], forward: "zero_product(sigmoid(a), a)", partials: ["sigmoid(a) + zero_product(select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) * tanh(0.5 * a)), sigmoid(a) * sigmoid(-a)), a)"], f: f_silu, p: [(a, y) => (f_sigmoid(a) + f_zero_product((((a !== 0.0) && (f_abs(a) < 0.01)) ? (0.25 * (1.0 - (f_tanh((0.5 * a)) * f_tanh((0.5 * a))))) : (f_sigmoid(a) * f_sigmoid((-a)))), a))], domain: [] },
  { name: "gelu", symbol: "gelu", card: "", doc: "a times the normal distribution function (the erf form).", aliases: [], public: true, static: [], forward: "zero_product(0.5 * erfc(-a * SQRT_HALF), a)", partials: ["0.5 * erfc(-a * SQRT_HALF) + select(abs(a) < 50, a * (INV_SQRT_2PI * exp(-0.5 * a * a)), 0)"], f: f_gelu, p: [(a, y) => ((0.5 * f_erfc(((-a) * 0.7071067811865476))) + ((f_abs(a) < 50.0) ? (a * (0.3989422804014327 * f_exp((((-0.5) * a) * a)))) : 0.0))], domain: [] },
  { name: "erf", symbol: "erf", card: "", doc: "Error function.", aliases: [], public: true, static: [], forward: "erf(a)", partials: ["select(abs(a) > 30, 0, TWO_OVER_SQRT_PI * exp(-a * a))"], f: f_erf, p: [(a, y) => !(f_abs(a) > 30.0) ? (1.1283791670955126 * f_exp(((-a) * a))) : null], domain: [] },
  { name: "erfc", symbol: "erfc", card: "", doc: "1 - erf(a), exact in the tail.", aliases: [], public: true, static: [], forward: "erfc(a)", partials: ["select(abs(a) > 30, 0, -TWO_OVER_SQRT_PI * exp(-a * a))"], f: f_erfc, p: [(a, y) => !(f_abs(a) > 30.0) ? ((-1.1283791670955126) * f_exp(((-a) * a))) : null], domain: [] },
  { name: "lgamma", symbol: "lgamma", card: "", doc: "Logarithm of the absolute value of the gamma function.", aliases: ["gammaln"], public: true, static: [], forward: "lgamma(a)", partials: ["digamma(a)"], f: f_lgamma, p: [(a, y) => f_digamma(a)], domain: [[(a, y) => ((a <= 0.0) && (a === f_floor(a)) && (a !== (-Infinity))), "a pole of the gamma function"], [(a, y) => ((y === Infinity) && (f_abs(a) !== Infinity)), "the result is too large for a float"]] },
  { name: "gamma", symbol: "gamma", card: "", doc: "Gamma function: (a - 1)! for a whole number above 0.", aliases: [], public: true, static: [], forward: "gamma(a)", partials: ["select(a == 0, -y * y, y * digamma(a))"], f: f_gamma, p: [(a, y) => ((a === 0.0) ? ((-y) * y) : (y * f_digamma(a)))], domain: [[(a, y) => ((a <= 0.0) && (a === f_floor(a)) && (a !== (-Infinity))), "a pole of the gamma function"], [(a, y) => (a === (-Infinity)), "the gamma function has no limit at minus infinity"], [(a, y) => ((f_abs(y) === Infinity) && (f_abs(a) !== Infinity)), "the result is too large for a float"]] },
  { name: "digamma", symbol: "digamma", card: "", doc: "Derivative of lgamma; NaN at the poles.", aliases: [], public: true, static: [], forward: "digamma(a)", partials: ["polygamma(1, a)"], f: f_digamma, p: [(a, y) => f_polygamma(1.0, a)], domain: [] },
  { name: "polygamma", symbol: "polygamma", card: "", doc: "", aliases: [], public: false, static: [0], forward: "polygamma(a, b)", partials: ["nan", "polygamma(a + 1, b)"], f: f_polygamma, p: [(a, b, y) => NaN, (a, b, y) => f_polygamma((a + 1.0), b)], domain: [] },
  { name: "abs", symbol: "abs", card: "", doc: "Absolute value; its derivative at zero is zero.", aliases: ["absolute", "fabs"], public: true, static: [], forward: "abs(a)", partials: ["sign(a)"], f: f_abs, p: [(a, y) => f_sign(a)], domain: [] },
  { name: "copysign", symbol: "copysign", card: "", doc: "The magnitude of a with the sign of b; its derivative at a = 0 is zero.", aliases: [], public: true, static: [], forward: "copysign(a, b)", partials: ["sign(a) * copysign(1, b)", "0"], f: f_copysign, p: [(a, b, y) => (f_sign(a) * f_copysign(1.0, b)), (a, b, y) => null], domain: [] },
  { name: "sign", symbol: "sign", card: "", doc: "-1, 0 or 1; its derivative is zero.", aliases: [], public: true, static: [], forward: "select(a > 0, 1, select(a < 0, -1, a))", partials: ["0"], f: f_sign, p: [(a, y) => null], domain: [] },
  { name: "floor", symbol: "floor", card: "", doc: "Largest whole number not above a; its derivative is zero.", aliases: [], public: true, static: [], forward: "floor(a)", partials: ["0"], f: f_floor, p: [(a, y) => null], domain: [[(a, y) => (f_abs(a) === Infinity), "the floor of an infinity"], [(a, y) => (a !== a), "the floor of a NaN"]] },
  { name: "ceil", symbol: "ceil", card: "", doc: "Smallest whole number not below a; its derivative is zero.", aliases: [], public: true, static: [], forward: "ceil(a)", partials: ["0"], f: f_ceil, p: [(a, y) => null], domain: [[(a, y) => (f_abs(a) === Infinity), "the ceiling of an infinity"], [(a, y) => (a !== a), "the ceiling of a NaN"]] },
  { name: "trunc", symbol: "trunc", card: "", doc: "Whole part of a; its derivative is zero.", aliases: [], public: true, static: [], forward: "trunc(a)", partials: ["0"], f: f_trunc, p: [(a, y) => null], domain: [[(a, y) => (f_abs(a) === Infinity), "the whole part of an infinity"], [(a, y) => (a !== a), "the whole part of a NaN"]] },
  { name: "rint", symbol: "rint", card: "", doc: "Nearest whole number, ties to even; its derivative is zero.", aliases: [], public: true, static: [], forward: "rint(a)", partials: ["0"], f: f_rint, p: [(a, y) => null], domain: [] },
  { name: "round", symbol: "round", card: "", doc: "", aliases: [], public: false, static: [], forward: "rint(a)", partials: ["0"], f: f_round, p: [(a, y) => null], domain: [[(a, y) => (f_abs(a) === Infinity), "the rounding of an infinity"], [(a, y) => (a !== a), "the rounding of a NaN"]] },
  { name: "minimum", symbol: "minimum", card: "", doc: "The smaller of two; at a tie each gets half the gradient.", aliases: [], public: true, static: [], forward: "select(a != a or a <= b, a, b)", partials: ["select(a > b, 0, select(a == b, 0.5, 1))", "select(b > a, 0, select(a == b, 0.5, 1))"], f: f_minimum, p: [(a, b, y) => !(a > b) ? ((a === b) ? 0.5 : 1.0) : null, (a, b, y) => !(b > a) ? ((a === b) ? 0.5 : 1.0) : null], domain: [] },
  { name: "maximum", symbol: "maximum", card: "", doc: "The larger of two; at a tie each gets half the gradient.", aliases: [], public: true, static: [], forward: "select(a != a or a >= b, a, b)", partials: ["select(a < b, 0, select(a == b, 0.5, 1))", "select(b < a, 0, select(a == b, 0.5, 1))"], f: f_maximum, p: [(a, b, y) => !(a < b) ? ((a === b) ? 0.5 : 1.0) : null, (a, b, y) => !(b < a) ? ((a === b) ? 0.5 : 1.0) : null], domain: [] },
  { name: "where", symbol: "where", card: "the switch", doc: "b where a is true (not zero), else c; the branch not taken gets no gradient.", aliases: ["select"], public: true, static: [], forward: "select(a != 0, b, c)", partials: ["0", "select(a != 0, 1, 0)", "select(a != 0, 0, 1)"], f: f_where, p: [(a, b, c, y) => null, (a, b, c, y) => (a !== 0.0) ? 1.0 : null, (a, b, c, y) => !(a !== 0.0) ? 1.0 : null], domain: [] },
  { name: "less", symbol: "<", card: "", doc: "", aliases: [], public: false, static: [], forward: "select(a < b, 1, 0)", partials: ["0", "0"], f: f_less, p: [(a, b, y) => null, (a, b, y) => null], domain: [] },
  { name: "less_equal", symbol: "<=", card: "", doc: "", aliases: [], public: false, static: [], forward: "select(a <= b, 1, 0)", partials: ["0", "0"], f: f_less_equal, p: [(a, b, y) => null, (a, b, y) => null], domain: [] },
  { name: "greater", symbol: ">", card: "", doc: "", aliases: [], public: false, static: [], forward: "select(a > b, 1, 0)", partials: ["0", "0"], f: f_greater, p: [(a, b, y) => null, (a, b, y) => null], domain: [] },
  { name: "greater_equal", symbol: ">=", card: "", doc: "", aliases: [], public: false, static: [], forward: "select(a >= b, 1, 0)", partials: ["0", "0"], f: f_greater_equal, p: [(a, b, y) => null, (a, b, y) => null], domain: [] },
  { name: "equal", symbol: "==", card: "", doc: "", aliases: [], public: false, static: [], forward: "select(a == b, 1, 0)", partials: ["0", "0"], f: f_equal, p: [(a, b, y) => null, (a, b, y) => null], domain: [] },
  { name: "not_equal", symbol: "!=", card: "", doc: "", aliases: [], public: false, static: [], forward: "select(a != b, 1, 0)", partials: ["0", "0"], f: f_not_equal, p: [(a, b, y) => null, (a, b, y) => null], domain: [] },
  { name: "sech2", symbol: "sech2", card: "", doc: "", aliases: [], public: false, static: [], forward: "select(abs(tanh(a)) < 0.7072, 1 - tanh(a) * tanh(a), 4 * sigmoid(2 * a) * sigmoid(-2 * a))", partials: ["-2 * tanh(a) * y"], f: f_sech2, p: [(a, y) => (((-2.0) * f_tanh(a)) * y)], domain: [] },
  { name: "logistic_slope", symbol: "logistic_slope", card: "", doc: "", aliases: [], public: false, static: [], forward: "select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) * tanh(0.5 * a)), sigmoid(a) * sigmoid(-a))", partials: ["-tanh(0.5 * a) * y"], f: f_logistic_slope, p: [(a, y) => ((-f_tanh((0.5 * a))) * y)], domain: [] },
  { name: "identity", symbol: "identity", card: "", doc: "", aliases: [], public: false, static: [], forward: "a", partials: ["1"], f: f_identity, p: [(a, y) => 1.0], domain: [] },
  { name: "detach", symbol: "detach", card: "", doc: "", aliases: [], public: false, static: [], forward: "a", partials: ["0"], f: f_detach, p: [(a, y) => null], domain: [] },
];

export const NARY: readonly NaryOp[] = [
  { name: "sum", doc: "Sum of a sequence, from left to right.", paired: false, outputs: false, empty: true, partials: ["1"], init: 0.0, step: (s, a, b, m) => (s + a), finish: (s, a, m, n) => s, p: [(a, b, y, n, ties, rest) => 1.0] },
  { name: "mean", doc: "Arithmetic mean of a sequence.", paired: false, outputs: false, empty: false, partials: ["1 / n"], init: 0.0, step: (s, a, b, m) => (s + a), finish: (s, a, m, n) => (s / n), p: [(a, b, y, n, ties, rest) => (1.0 / n)] },
  { name: "dot", doc: "Sum of the products of two sequences of equal length.", paired: true, outputs: false, empty: true, partials: ["b", "a"], init: 0.0, step: (s, a, b, m) => (s + (a * b)), finish: (s, a, m, n) => s, p: [(a, b, y, n, ties, rest) => b, (a, b, y, n, ties, rest) => a] },
  { name: "prod", doc: "Product of a sequence.", paired: false, outputs: false, empty: true, partials: ["rest"], init: 1.0, step: (s, a, b, m) => (s * a), finish: (s, a, m, n) => s, p: [(a, b, y, n, ties, rest) => rest] },
  { name: "max", doc: "Largest of a sequence; tied operands share the gradient.", paired: false, outputs: false, empty: false, partials: ["select(a == y or y != y, 1 / ties, 0)"], init: (-Infinity), step: (s, a, b, m) => (((s !== s) || (s >= a)) ? s : a), finish: (s, a, m, n) => s, p: [(a, b, y, n, ties, rest) => ((a === y) || (y !== y)) ? (1.0 / ties) : null] },
  { name: "min", doc: "Smallest of a sequence; tied operands share the gradient.", paired: false, outputs: false, empty: false, partials: ["select(a == y or y != y, 1 / ties, 0)"], init: Infinity, step: (s, a, b, m) => (((s !== s) || (s <= a)) ? s : a), finish: (s, a, m, n) => s, p: [(a, b, y, n, ties, rest) => ((a === y) || (y !== y)) ? (1.0 / ties) : null] },
  { name: "logsumexp", doc: "log of the sum of the exponentials, without overflow.", paired: false, outputs: false, empty: false, partials: ["select(abs(y) == inf, select(a == y, 1 / ties, 0), rest)"], init: 0.0, step: (s, a, b, m) => (s + f_exp((a - m))), finish: (s, a, m, n) => ((f_abs(m) === Infinity) ? m : (m + f_log(s))), p: [(a, b, y, n, ties, rest) => ((f_abs(y) === Infinity) ? ((a === y) ? (1.0 / ties) : 0.0) : rest)] },
  { name: "softmax", doc: "Probabilities proportional to exp(a), one for each operand.", paired: false, outputs: true, empty: false, partials: ["y * rest"], init: 0.0, step: (s, a, b, m) => (s + f_exp((a - m))), finish: (s, a, m, n) => (f_exp((a - m)) / s), p: [(a, b, y, n, ties, rest) => (y * rest)] },
];

export const CONSTANTS: Readonly<Record<string, number>> = { inf: Infinity, nan: NaN, LN2: 0.6931471805599453, INV_LN2: 1.4426950408889634, INV_LN10: 0.4342944819032518, SQRT_HALF: 0.7071067811865476, INV_SQRT_2PI: 0.3989422804014327, TWO_OVER_SQRT_PI: 1.1283791670955126, DEGREE: 0.017453292519943295, RADIAN: 57.29577951308232 };
export const TEXT: Style = {
  "exact": true,
  "wrap": "($0)",
  "call": "$f($*)",
  "forms": {
    "+": ["$0 + $1", 4, [4, 5]],
    "-": ["$0 - $1", 4, [4, 5]],
    "*": ["$0 * $1", 6, [5, 7]],
    "/": ["$0 / $1", 6, [5, 7]],
    "%": ["$0 % $1", 5, [5, 7]],
    "//": ["$0 // $1", 5, [5, 7]],
    "**": ["$0 ** $1", 8, [9, 7]],
    "minus": ["-$0", 7, [6]],
    "zero_product": ["$0 * $1", 6, [5, 7]],
  },
  "constants": {
    "inf": ["inf", 9],
    "nan": ["nan", 9],
    "LN2": ["log(2.0)", 9],
    "INV_LN2": ["1.0 / log(2.0)", 6],
    "INV_LN10": ["1.0 / log(10.0)", 6],
    "SQRT_HALF": ["sqrt(0.5)", 9],
    "pi": ["pi", 9],
    "INV_SQRT_2PI": ["1.0 / sqrt(2.0 * pi)", 6],
    "TWO_OVER_SQRT_PI": ["2.0 / sqrt(pi)", 6],
    "DEGREE": ["pi / 180.0", 6],
    "RADIAN": ["180.0 / pi", 6],
  },
};
export const LATEX: Style = {
  "exact": false,
  "wrap": "\\left($0\\right)",
  "call": "\\mathrm{$f}\\left($*\\right)",
  "forms": {
    "+": ["$0 + $1", 4, [4, 4]],
    "-": ["$0 - $1", 4, [4, 6]],
    "*": ["$0 \\cdot $1", 6, [6, 6]],
    "/": ["\\frac{$0}{$1}", 9, []],
    "minus": ["-$0", 4, [6]],
    "not": ["\\lnot $0", 6, [9]],
    "and": ["$0 \\land $1", 2, [2, 2]],
    "or": ["$0 \\lor $1", 1, [1, 1]],
    "<": ["$0 < $1", 3, []],
    "<=": ["$0 \\le $1", 3, []],
    ">": ["$0 > $1", 3, []],
    ">=": ["$0 \\ge $1", 3, []],
    "==": ["$0 = $1", 3, []],
    "!=": ["$0 \\ne $1", 3, []],
    "select": ["\\begin{cases} $1 & \\text{if } $0 \\\\ $2 & \\text{otherwise} \\end{cases}", 9, []],
    "abs": ["\\left|$0\\right|", 9, []],
    "sqrt": ["\\sqrt{$0}", 9, []],
    "cbrt": ["\\sqrt[3]{$0}", 9, []],
    "exp": ["e^{$0}", 9, []],
    "exp2": ["2^{$0}", 9, []],
    "floor": ["\\lfloor $0 \\rfloor", 9, []],
    "ceil": ["\\lceil $0 \\rceil", 9, []],
    "square": ["\\left($0\\right)^2", 9, []],
    "reciprocal": ["\\frac{1}{$0}", 9, []],
    "pow": ["{$0}^{$1}", 9, [9]],
    "zero_product": ["$0 \\cdot $1", 6, [6, 6]],
    "gamma": ["\\Gamma\\left($0\\right)", 9, []],
    "digamma": ["\\psi\\left($0\\right)", 9, []],
    "polygamma": ["\\psi^{($0)}\\left($1\\right)", 9, []],
    "floordiv": ["\\left\\lfloor \\frac{$0}{$1} \\right\\rfloor", 9, []],
    "sigmoid": ["\\sigma\\left($0\\right)", 9, []],
    "log": ["\\ln\\left($0\\right)", 9, []],
    "sin": ["\\sin\\left($0\\right)", 9, []],
    "cos": ["\\cos\\left($0\\right)", 9, []],
    "tan": ["\\tan\\left($0\\right)", 9, []],
    "sinh": ["\\sinh\\left($0\\right)", 9, []],
    "cosh": ["\\cosh\\left($0\\right)", 9, []],
    "tanh": ["\\tanh\\left($0\\right)", 9, []],
  },
  "constants": {
    "inf": ["\\infty", 9],
    "nan": ["\\mathrm{NaN}", 9],
    "LN2": ["\\ln 2", 9],
    "INV_LN2": ["\\frac{1}{\\ln 2}", 9],
    "INV_LN10": ["\\frac{1}{\\ln 10}", 9],
    "SQRT_HALF": ["\\frac{1}{\\sqrt{2}}", 9],
    "pi": ["\\pi", 9],
    "INV_SQRT_2PI": ["\\frac{1}{\\sqrt{2\\pi}}", 9],
    "TWO_OVER_SQRT_PI": ["\\frac{2}{\\sqrt{\\pi}}", 9],
    "DEGREE": ["\\frac{\\pi}{180}", 9],
    "RADIAN": ["\\frac{180}{\\pi}", 9],
  },
};
export const CARD: Style = {
  "exact": false,
  "wrap": "($0)",
  "call": "$f($*)",
  "forms": {
    "+": ["$0 + $1", 4, [4, 4]],
    "-": ["$0 \u2212 $1", 4, [4, 5]],
    "*": ["$0 \u00d7 $1", 6, [5, 7]],
    "/": ["$0 / $1", 6, [5, 7]],
    "%": ["$0 mod $1", 5, [5, 7]],
    "//": ["\u230a$0 / $1\u230b", 9, [5, 7]],
    "**": ["$0^$1", 8, [9, 9]],
    "minus": ["\u2212$0", 7, [6]],
    "not": ["not $0", 2, [3]],
    "and": ["$0 and $1", 2, [2, 2]],
    "or": ["$0 or $1", 1, [1, 1]],
    "<": ["$0 < $1", 3, []],
    "<=": ["$0 \u2264 $1", 3, []],
    ">": ["$0 > $1", 3, []],
    ">=": ["$0 \u2265 $1", 3, []],
    "==": ["$0 = $1", 3, []],
    "!=": ["$0 \u2260 $1", 3, []],
    "select": ["$1 if $0, else $2", 0, [1, 1]],
    "abs": ["|$0|", 9, []],
    "sqrt": ["\u221a($0)", 9, []],
    "cbrt": ["\u221b($0)", 9, []],
    "log": ["ln($0)", 9, []],
    "sigmoid": ["\u03c3($0)", 9, []],
    "digamma": ["\u03c8($0)", 9, []],
    "floor": ["\u230a$0\u230b", 9, []],
    "ceil": ["\u2308$0\u2309", 9, []],
    "maximum": ["max($0, $1)", 9, []],
    "minimum": ["min($0, $1)", 9, []],
  },
  "constants": {
    "inf": ["\u221e", 9],
    "nan": ["undefined", 9],
    "pi": ["\u03c0", 9],
  },
};
export const INFIX: Readonly<Record<string, string>> = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "floordiv": "//", "pow": "**", "neg": "minus"};
export const SEQUENCES: Readonly<Record<string, readonly [string, string, string]>> = {"dot": ["$0 \\cdot $1", " + ", "0"], "sum": ["$0", " + ", "0"], "prod": ["$0", " \\cdot ", "1"]};
export const SEQUENCE_CARDS: Readonly<Record<string, string>> = {"sum": "each operand gets G, unchanged", "mean": "each of the n operands gets G / n", "dot": "each operand gets its partner \u00d7 G", "prod": "each operand gets the product of the others \u00d7 G", "max": "the largest operand gets G, the others nothing; operands that tie for it share G", "min": "the smallest operand gets G, the others nothing; operands that tie for it share G", "logsumexp": "each operand gets its softmax probability \u00d7 G", "softmax": "its own operand gets p \u00d7 (1 \u2212 p) \u00d7 G, p the probability, and any other, with q, \u2212p \u00d7 q \u00d7 G"};
export const TEXTBOOK: Readonly<Record<string, readonly [string, readonly string[]]>> = {"div": ["a / b", ["1 / b", "-a / pow(b, 2)"]], "pow": ["pow(a, b)", ["b * pow(a, b - 1)", "pow(a, b) * log(a)"]], "square": ["pow(a, 2)", ["2 * a"]], "reciprocal": ["1 / a", ["-1 / pow(a, 2)"]], "zero_product": ["a * b", ["b", "a"]], "exp": ["exp(a)", ["exp(a)"]], "exp2": ["pow(2, a)", ["pow(2, a) * log(2)"]], "expm1": ["exp(a) - 1", ["exp(a)"]], "log2": ["log(a) / log(2)", ["1 / (a * log(2))"]], "log10": ["log(a) / log(10)", ["1 / (a * log(10))"]], "log1p": ["log(1 + a)", ["1 / (1 + a)"]], "sqrt": ["sqrt(a)", ["1 / (2 * sqrt(a))"]], "cbrt": ["cbrt(a)", ["1 / (3 * pow(cbrt(a), 2))"]], "hypot": ["sqrt(pow(a, 2) + pow(b, 2))", ["a / y", "b / y"]], "tan": ["tan(a)", ["1 + pow(tan(a), 2)"]], "asin": ["asin(a)", ["1 / sqrt(1 - pow(a, 2))"]], "acos": ["acos(a)", ["-1 / sqrt(1 - pow(a, 2))"]], "atan": ["atan(a)", ["1 / (1 + pow(a, 2))"]], "atan2": ["atan2(a, b)", ["b / (pow(a, 2) + pow(b, 2))", "-a / (pow(a, 2) + pow(b, 2))"]], "degrees": ["a * 180 / pi", ["180 / pi"]], "radians": ["a * pi / 180", ["pi / 180"]], "tanh": ["tanh(a)", ["1 - pow(tanh(a), 2)"]], "sech2": ["1 - pow(tanh(a), 2)", ["-2 * tanh(a) * (1 - pow(tanh(a), 2))"]], "asinh": ["asinh(a)", ["1 / sqrt(1 + pow(a, 2))"]], "acosh": ["acosh(a)", ["1 / sqrt(pow(a, 2) - 1)"]], "atanh": ["atanh(a)", ["1 / (1 - pow(a, 2))"]], "sigmoid": ["1 / (1 + exp(-a))", ["sigmoid(a) * (1 - sigmoid(a))"]], "logistic_slope": ["sigmoid(a) * (1 - sigmoid(a))", ["sigmoid(a) * (1 - sigmoid(a)) * (1 - 2 * sigmoid(a))"]], "softplus": ["log(1 + exp(a))", ["sigmoid(a)"]], "relu": ["maximum(a, 0)", ["select(a <= 0, 0, 1)"]], "silu": ["a * sigmoid(a)", ["sigmoid(a) + a * sigmoid(a) * (1 - sigmoid(a))"]], "gelu": ["0.5 * a * (1 + erf(a / sqrt(2)))", ["0.5 * (1 + erf(a / sqrt(2))) + a * exp(-pow(a, 2) / 2) / sqrt(2 * pi)"]], "erf": ["erf(a)", ["2 / sqrt(pi) * exp(-pow(a, 2))"]], "erfc": ["1 - erf(a)", ["-2 / sqrt(pi) * exp(-pow(a, 2))"]], "sign": ["sign(a)", ["0"]], "minimum": ["minimum(a, b)", ["select(a > b, 0, select(a == b, 0.5, 1))", "select(b > a, 0, select(a == b, 0.5, 1))"]], "maximum": ["maximum(a, b)", ["select(a < b, 0, select(a == b, 0.5, 1))", "select(b < a, 0, select(a == b, 0.5, 1))"]], "where": ["select(a, b, c)", ["0", "select(a, 1, 0)", "select(a, 0, 1)"]]};
export const MINUS = 7;
export const PRODUCT = 6;
export const ATOM = 9;
export const MANY = 6;
export const SENTENCES = {
  "input": "$name = $data",
  "moreInputs": "and $count more inputs",
  "seed": "$name.grad = 1.0",
  "visit": "$name = $formula",
  "stopped": "$visit: $name.grad is $grad, so nothing flows on.",
  "flows": "$visit: $name.grad = $grad sends $shares.",
  "share": "$amount to $name",
  "flowsNowhere": "$visit: nothing flows on.",
  "allClosed": "$visit: nothing flows to $targets, because the local derivative there is zero.",
  "closed": " Nothing flows to $targets: the local derivative there is zero.",
  "addition": "$target.grad $sign $formula * $name.grad = $local * $upstream = $contribution",
  "ownAddition": "$target.grad $sign $formula = $contribution",
  "ownDerivative": "$name._backward()",
  "moreNames": "$count more",
  "lastName": "$names and $last",
};
export const INPUTS = 16;
export const LISTED = 6;
