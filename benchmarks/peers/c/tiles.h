/* Small dense algebra for the programs written by hand: register tiles on the compiler's vectors, any processor.
 *
 * Arrays are feature-major: x[feature][column], a column being a position of a document or a sample. LANES columns
 * are one vector. The widths are constants where these functions are called, so that every tile lives in registers.
 */
#ifndef RETROGRAD_PEERS_TILES_H
#define RETROGRAD_PEERS_TILES_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#ifdef __AVX512F__
#include <immintrin.h>
#define LANES 8
#define REGISTERS 16 /* accumulators a tile may hold, with room left for its operands */
#elif defined(__AVX__)
#define LANES 4
#define REGISTERS 8
#else
#define LANES 2
#define REGISTERS 8
#endif

#define INLINE static inline __attribute__((always_inline))
#define ALIGNED __attribute__((aligned(64)))
#define UNROLL _Pragma("GCC unroll 16")
#define EXPORT __attribute__((visibility("default")))

typedef double vec __attribute__((vector_size(8 * LANES)));
typedef int64_t ivec __attribute__((vector_size(8 * LANES)));
typedef double unaligned __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

INLINE vec load(const double* from) { return *(const unaligned*)from; }
INLINE void store(double* to, vec x) { *(unaligned*)to = x; }
INLINE vec all(double x) { return x - (vec){0}; }
INLINE vec choose(ivec mask, vec yes, vec no) { return (vec)((mask & (ivec)yes) | (~mask & (ivec)no)); }
INLINE int rounded_up(int count) { return (count + LANES - 1) / LANES * LANES; }

INLINE vec larger(vec a, vec b) {
#ifdef __AVX512F__
  return (vec)_mm512_max_pd((__m512d)a, (__m512d)b);
#else
  return choose(a > b, a, b);
#endif
}

INLINE double total(vec x) {
  double sum = 0;
  for (int lane = 0; lane < LANES; lane++) sum += x[lane];
  return sum;
}

/* e to the x, for x up to 0; below -600 it is as good as zero, and far from the slow denormals. */
INLINE vec exponential(vec x) {
  x = larger(x, all(-600.0));
#ifdef __AVX512DQ__
  ivec power = __builtin_convertvector(x * 1.4426950408889634 - 0.5, ivec);
  vec r = x - __builtin_convertvector(power, vec) * 0.6931471805599453;
  vec y = all(1.0 / 479001600);
  static const double inverse_factorial[] = {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                             1.0 / 5040,     1.0 / 720,     1.0 / 120,    1.0 / 24,
                                             1.0 / 6,        1.0 / 2,       1.0,          1.0};
  UNROLL for (int i = 0; i < 12; i++) y = y * r + inverse_factorial[i];
  return y * (vec)((power + 1023) << 52);
#else
  vec y;
  for (int lane = 0; lane < LANES; lane++) y[lane] = exp(x[lane]);
  return y;
#endif
}

/* The square root; the divider's work. */
INLINE vec square_root(vec x) {
#ifdef __AVX512F__
  return (vec)_mm512_sqrt_pd((__m512d)x);
#else
  for (int lane = 0; lane < LANES; lane++) x[lane] = sqrt(x[lane]);
  return x;
#endif
}

/* 1 / x: by Newton's method where there is a first guess, for the divider is the slower way. */
INLINE vec inverse(vec x) {
#ifdef __AVX512F__
  vec y = (vec)_mm512_rcp14_pd((__m512d)x);
  vec miss = 1.0 - x * y; /* below 2^-13, so its fourth power is below one rounding */
  y += y * miss;
  return y + y * (miss * miss);
#else
  return 1.0 / x;
#endif
}

/* 1 / sqrt(x), likewise; a large number for 0. */
INLINE vec inverse_root(vec x) {
#ifdef __AVX512F__
  x += 1e-300;
  vec y = (vec)_mm512_rsqrt14_pd((__m512d)x);
  vec miss = 1.0 - x * y * y;
  return y + y * miss * (0.5 + miss * (0.375 + miss * 0.3125));
#else
  return 1.0 / square_root(x + 1e-300);
#endif
}

/* rows x vectors of: out[i] (+)= sum over r < inner of a[i * si + r * sr] * b[r]. */
INLINE void product_tile(int rows, int vectors, double* out, const double* a, long si, long sr, const double* b,
                         int inner, long stride, int add) {
  vec sum[REGISTERS][2];
  UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < vectors; v++) {
    sum[i][v] = add ? load(out + i * stride + v * LANES) : (vec){0};
  }
  for (int r = 0; r < inner; r++) {
    vec x[2];
    UNROLL for (int v = 0; v < vectors; v++) x[v] = load(b + r * stride + v * LANES);
    UNROLL for (int i = 0; i < rows; i++) {
      double factor = a[i * si + r * sr];
      UNROLL for (int v = 0; v < vectors; v++) sum[i][v] += factor * x[v];
    }
  }
  UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < vectors; v++) {
    store(out + i * stride + v * LANES, sum[i][v]);
  }
}

INLINE void product_columns(int rows, int vectors, double* out, const double* a, long si, long sr, const double* b,
                            int inner, long stride, int add) {
  const int height = REGISTERS / vectors, rest = rows % height, whole = rows - rest;
  for (int i = 0; i < whole; i += height) {
    product_tile(height, vectors, out + i * stride, a + i * si, si, sr, b, inner, stride, add);
  }
  if (rest) product_tile(rest, vectors, out + whole * stride, a + whole * si, si, sr, b, inner, stride, add);
}

/* out[i][column] (+)= sum over r < inner of a[i * si + r * sr] * b[r][column], for columns rounded up to LANES. */
INLINE void product(int rows, double* out, const double* a, long si, long sr, const double* b, int inner, long stride,
                    int columns, int add) {
  int column = 0;
  for (; column + 2 * LANES < columns + LANES; column += 2 * LANES) {
    product_columns(rows, 2, out + column, a, si, sr, b + column, inner, stride, add);
  }
  if (column < columns) product_columns(rows, 1, out + column, a, si, sr, b + column, inner, stride, add);
}

/* rows x vectors of: out[i][k] = sum over columns of y[i][column] * x[column][k]. */
INLINE void outer_tile(int rows, int vectors, double* out, long width, const double* y, long stride, const double* x,
                       int columns) {
  vec sum[REGISTERS][2];
  UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < vectors; v++) sum[i][v] = (vec){0};
  for (int column = 0; column < columns; column++) {
    vec row[2];
    UNROLL for (int v = 0; v < vectors; v++) row[v] = load(x + column * width + v * LANES);
    UNROLL for (int i = 0; i < rows; i++) {
      double factor = y[i * stride + column];
      UNROLL for (int v = 0; v < vectors; v++) sum[i][v] += factor * row[v];
    }
  }
  UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < vectors; v++) {
    store(out + i * width + v * LANES, sum[i][v]);
  }
}

/* out[rows][width] = y[rows][columns] times x[columns][width]; width is a multiple of 2 * LANES. */
INLINE void outer(int rows, double* out, int width, const double* y, long stride, const double* x, int columns) {
  const int height = REGISTERS / 2, rest = rows % height, whole = rows - rest;
  for (int k = 0; k < width; k += 2 * LANES) {
    for (int i = 0; i < whole; i += height) {
      outer_tile(height, 2, out + i * width + k, width, y + i * stride, stride, x + k, columns);
    }
    if (rest) outer_tile(rest, 2, out + whole * width + k, width, y + whole * stride, stride, x + k, columns);
  }
}

#if !defined(__has_builtin)
#define __has_builtin(x) 0
#endif
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ivec){__VA_ARGS__})
#endif
#define EXCHANGE(step, low, high)                           \
  UNROLL for (int i = 0; i < LANES; i++) if (!(i & step)) { \
    vec a = row[i], b = row[i + step];                      \
    row[i] = SHUFFLE(a, b, UNPACK low);                     \
    row[i + step] = SHUFFLE(a, b, UNPACK high);             \
  }
#define UNPACK(...) __VA_ARGS__

/* A square of LANES x LANES: to[j][i] = from[i][j]. */
INLINE void transposed_square(double* to, long to_stride, const double* from, long from_stride) {
  vec row[LANES];
  UNROLL for (int i = 0; i < LANES; i++) row[i] = load(from + i * from_stride);
#if LANES == 8
  EXCHANGE(1, (0, 8, 2, 10, 4, 12, 6, 14), (1, 9, 3, 11, 5, 13, 7, 15))
  EXCHANGE(2, (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15))
  EXCHANGE(4, (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15))
#elif LANES == 4
  EXCHANGE(1, (0, 4, 2, 6), (1, 5, 3, 7))
  EXCHANGE(2, (0, 1, 4, 5), (2, 3, 6, 7))
#else
  EXCHANGE(1, (0, 2), (1, 3))
#endif
  UNROLL for (int i = 0; i < LANES; i++) store(to + i * to_stride, row[i]);
}

/* The sums of LANES vectors, side by side. */
INLINE vec totals(const vec* x) {
  ALIGNED double lanes[LANES][LANES];
  vec sum = {0};
  transposed_square(&lanes[0][0], LANES, (const double*)x, LANES);
  UNROLL for (int i = 0; i < LANES; i++) sum += load(lanes[i]);
  return sum;
}

/* to[j][i] = from[i][j] for whole squares: rows and columns are rounded up to LANES. */
INLINE void transposed(double* to, long to_stride, const double* from, long from_stride, int rows, int columns) {
  for (int i = 0; i < rows; i += LANES) {
    for (int j = 0; j < columns; j += LANES) {
      transposed_square(to + j * to_stride + i, to_stride, from + i * from_stride + j, from_stride);
    }
  }
}

/* Numbers below 1e-308 are slow, and a moment of Adam that decays gets there: count them as zero, as programs built
 * with -ffast-math do, but only while such a program runs, for Python shares the thread. */
INLINE unsigned fast_denormals(void) {
#ifdef __SSE2__
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);
  return before;
#else
  return 0;
#endif
}

INLINE void restore_denormals(unsigned before) {
#ifdef __SSE2__
  __builtin_ia32_ldmxcsr(before);
#else
  (void)before;
#endif
}

INLINE int64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

#endif
