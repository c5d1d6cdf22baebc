// digamma and polygamma: see src/retrograd/engine/reference/libm.py, which has the same operations in the same order.
#include "ops/special.hpp"

namespace retrograd::primitive {
namespace {

constexpr double kPi = 0x1.921fb54442d18p+1;

// B(2), B(4), … B(24)
constexpr double kBernoulli[] = {
    1.0 / 6.0, -1.0 / 30.0,     1.0 / 42.0,      -1.0 / 30.0,       5.0 / 66.0,       -691.0 / 2730.0,
    7.0 / 6.0, -3617.0 / 510.0, 43867.0 / 798.0, -174611.0 / 330.0, 854513.0 / 138.0, -236364091.0 / 2730.0,
};

// The n-th derivative of cot(pi x), from the polynomial in cot that it is.
double cotangent_derivative(int n, double x) {
  double cotangent = 1.0 / tan(kPi * x);
  std::vector<double> coefficients(n + 3, 0.0), derived(n + 3);
  coefficients[1] = 1.0;
  for (int degree = 1; degree <= n; ++degree) {
    derived.assign(n + 3, 0.0);
    for (int k = 1; k <= degree; ++k) {
      derived[k - 1] += static_cast<double>(k) * coefficients[k];
      derived[k + 1] += static_cast<double>(k) * coefficients[k];
    }
    for (int k = 0; k < n + 3; ++k) coefficients[k] = -kPi * derived[k];
  }
  double result = 0.0;
  for (int k = n + 1; k >= 0; --k) result = result * cotangent + coefficients[k];
  return result;
}

}  // namespace

double digamma(double x) {
  if (x <= 0.0) {
    double nearest = floor(x + 0.5);
    if (x == nearest) return NAN;
    return digamma(1.0 - x) - kPi / tan(kPi * (x - nearest));
  }
  double shift = 0.0;
  while (x < 10.0) {
    shift += 1.0 / x;
    x += 1.0;
  }
  double square = 1.0 / (x * x);
  double power = square;
  double series = 0.0;
  double k = 1.0;
  for (double bernoulli : kBernoulli) {
    series += bernoulli / (2.0 * k) * power;
    power *= square;
    k += 1.0;
  }
  return ((log(x) - 0.5 / x) - series) - shift;
}

double polygamma(double order, double x) {
  if (order != floor(order) || order < 0.0 || order > 100.0) return NAN;
  if (order == 0.0) return digamma(x);
  int n = static_cast<int>(order);
  double sign = n % 2 ? 1.0 : -1.0;
  if (x <= 0.0) {
    double nearest = floor(x + 0.5);
    if (x == nearest || x == -INFINITY) return NAN;
    return -sign * polygamma(order, 1.0 - x) - kPi * cotangent_derivative(n, x - nearest);
  }
  double factorial = 1.0;
  for (int k = 2; k <= n; ++k) factorial *= static_cast<double>(k);
  double exponent = order + 1.0;
  double shift = 0.0;
  while (x < 10.0 + order) {
    shift += 1.0 / pow(x, exponent);
    x += 1.0;
  }
  double square = 1.0 / (x * x);
  double ratio = factorial;
  ratio /= order;
  double series = ratio + factorial * 0.5 / x;
  double power = 1.0;
  double k = 1.0;
  for (double bernoulli : kBernoulli) {
    double top = 2.0 * k + order - 1.0;
    ratio = ratio * top / (2.0 * k) * (top - 1.0) / (2.0 * k - 1.0);
    power *= square;
    series += bernoulli * ratio * power;
    k += 1.0;
  }
  return sign * (series / pow(x, order) + factorial * shift);
}

}  // namespace retrograd::primitive
