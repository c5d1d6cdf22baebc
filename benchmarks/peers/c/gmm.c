/* ADBench's Gaussian mixture objective by hand: log-likelihood with a Wishart prior, and its gradient.
 *
 * Double precision, one thread. Compile with -DDIMENSIONS= -DCLUSTERS=. Vectors run over the points, in blocks whose
 * intermediate results stay in the nearest cache. Q of a cluster is lower triangular: its diagonal is the exponential
 * of the first DIMENSIONS numbers of a row of icf, the rest lies column by column after them.
 */
#include <stdlib.h>

#include "tiles.h"

enum {
  D = DIMENSIONS,
  K = CLUSTERS,
  ICF = D * (D + 1) / 2,
  HALF = (D + 1) / 2,
  BLOCK = 8 * LANES, /* points */
  PAIR = 2           /* vectors that share each factor loaded */
};

static double diagonal[K][D], lower[K][D][D], constant[K];           /* lower[k][i][j] for j < i */
static ALIGNED double scaled[K][D][BLOCK], responsibility[K][BLOCK]; /* scaled: q = Q (x - mean) */
/* Sums over the points, lane by lane: of responsibilities, of q, and of q times the centred point. */
static ALIGNED vec dalpha[K], dscaled[K][D], dlower[K][D][D];

/* Where Q[i][j], j < i, lies in a row of icf. */
INLINE int place(int i, int j) { return D + j * D - j * (j + 1) / 2 + i - j - 1; }

static double prepare(const double* alphas, const double* icf) {
  double high = alphas[0], sum = 0;
  for (int k = 0; k < K; k++) {
    double logs = 0;
    for (int i = 0; i < D; i++) {
      logs += icf[k * ICF + i];
      diagonal[k][i] = exp(icf[k * ICF + i]);
      for (int j = 0; j < i; j++) lower[k][i][j] = icf[k * ICF + place(i, j)];
    }
    constant[k] = alphas[k] + logs;
    if (alphas[k] > high) high = alphas[k];
  }
  for (int k = 0; k < K; k++) sum += exp(alphas[k] - high);
  return high + log(sum);
}

/* The exponent of each cluster at the points of a block, into responsibility; what led to it is kept. */
static void exponents(const double* points, long stride, const double* means) {
  for (int k = 0; k < K; k++) {
    for (int c = 0; c < BLOCK; c += PAIR * LANES) {
      vec x[D][PAIR], squares[PAIR] = {{0}};
      UNROLL for (int i = 0; i < D; i++) UNROLL for (int v = 0; v < PAIR; v++) {
        const int at = c + v * LANES;
        x[i][v] = load(points + i * stride + at) - means[k * D + i];
        vec q = x[i][v] * diagonal[k][i];
        UNROLL for (int j = 0; j < i; j++) q += lower[k][i][j] * x[j][v];
        store(&scaled[k][i][at], q);
        squares[v] += q * q;
      }
      UNROLL for (int v = 0; v < PAIR; v++) {
        store(&responsibility[k][c + v * LANES], constant[k] - 0.5 * squares[v]);
      }
    }
  }
}

/* The log-likelihoods' sum over a block, less the constant; exponents become responsibilities (0 beyond count). */
static double mixture(int count) {
  double sum = 0;
  for (int c = 0; c < BLOCK; c += LANES) {
    vec high = load(&responsibility[0][c]), all_clusters = {0}, there;
    for (int k = 1; k < K; k++) high = larger(high, load(&responsibility[k][c]));
    for (int k = 0; k < K; k++) {
      vec e = exponential(load(&responsibility[k][c]) - high);
      all_clusters += e;
      store(&responsibility[k][c], e);
    }
    double product = 1; /* one logarithm for the vector: each sum is between 1 and K */
    for (int lane = 0; lane < LANES; lane++) {
      there[lane] = c + lane < count;
      if (c + lane < count) product *= all_clusters[lane], sum += high[lane];
    }
    sum += log(product);
    vec factor = there / all_clusters;
    for (int k = 0; k < K; k++) store(&responsibility[k][c], load(&responsibility[k][c]) * factor);
  }
  return sum;
}

/* The block's share in the sums, for rows [from, to) and columns [left, right) of a cluster's lower triangle: as many
 * as the registers hold. */
INLINE void accumulate_part(int k, int from, int to, int left, int right, const double* points, long stride,
                            const double* means) {
  vec sum[HALF][HALF], row_sum[HALF];
  UNROLL for (int i = from; i < to; i++) {
    row_sum[i - from] = dscaled[k][i];
    UNROLL for (int j = left; j < right; j++) if (j <= i) sum[i - from][j - left] = dlower[k][i][j];
  }
  for (int c = 0; c < BLOCK; c += LANES) {
    vec x[HALF], r = load(&responsibility[k][c]);
    UNROLL for (int j = left; j < right; j++) x[j - left] = load(points + j * stride + c) - means[k * D + j];
    UNROLL for (int i = from; i < to; i++) {
      vec q = load(&scaled[k][i][c]) * r;
      if (from == left) row_sum[i - from] += q;
      UNROLL for (int j = left; j < right; j++) if (j <= i) sum[i - from][j - left] += q * x[j - left];
    }
  }
  UNROLL for (int i = from; i < to; i++) {
    if (from == left) dscaled[k][i] = row_sum[i - from];
    UNROLL for (int j = left; j < right; j++) if (j <= i) dlower[k][i][j] = sum[i - from][j - left];
  }
}

static void accumulate(const double* points, long stride, const double* means) {
  for (int k = 0; k < K; k++) {
    for (int c = 0; c < BLOCK; c += LANES) dalpha[k] += load(&responsibility[k][c]);
    accumulate_part(k, 0, HALF, 0, HALF, points, stride, means);
    accumulate_part(k, HALF, D, 0, HALF, points, stride, means);
    accumulate_part(k, HALF, D, HALF, D, points, stride, means);
  }
}

/* From the sums over the points to the gradient: of alphas, of means, of icf, prior included. */
static double gradients(const double* alphas, const double* icf, long points, double gamma, long extra, double lse,
                        double* galphas, double* gmeans, double* gicf) {
  double prior = 0;
  for (int k = 0; k < K; k++) {
    double responsible = total(dalpha[k]);
    galphas[k] = responsible - points * exp(alphas[k] - lse);
    for (int j = 0; j < D; j++) gmeans[k * D + j] = total(dscaled[k][j]) * diagonal[k][j];
    for (int i = 0; i < D; i++) {
      const double q = diagonal[k][i], weighted = total(dscaled[k][i]);
      prior += 0.5 * gamma * gamma * q * q - extra * icf[k * ICF + i];
      gicf[k * ICF + i] = responsible - total(dlower[k][i][i]) * q + gamma * gamma * q * q - extra;
      for (int j = 0; j < i; j++) {
        const double l = lower[k][i][j];
        prior += 0.5 * gamma * gamma * l * l;
        gicf[k * ICF + place(i, j)] = gamma * gamma * l - total(dlower[k][i][j]);
        gmeans[k * D + j] += weighted * l;
      }
    }
  }
  return prior;
}

/* ---- what Python calls ---- */

/* The objective less its constant terms. Points are D rows of stride numbers each, of which the first `count` count and
 * the rest, up to a whole block, are zero. */
EXPORT double gmm_gradient(const double* alphas, const double* means, const double* icf, const double* points,
                           int64_t count, int64_t stride, double gamma, int64_t extra, double* galphas, double* gmeans,
                           double* gicf) {
  double lse = prepare(alphas, icf), sum = 0;
  memset(dalpha, 0, sizeof dalpha);
  memset(dscaled, 0, sizeof dscaled);
  memset(dlower, 0, sizeof dlower);
  for (long first = 0; first < count; first += BLOCK) {
    exponents(points + first, stride, means);
    sum += mixture(count - first < BLOCK ? (int)(count - first) : BLOCK);
    accumulate(points + first, stride, means);
  }
  return sum - count * lse + gradients(alphas, icf, count, gamma, extra, lse, galphas, gmeans, gicf);
}

EXPORT int64_t gmm_block(void) { return BLOCK; }

/* Nanoseconds of some evaluations one after the other. */
EXPORT int64_t gmm_time(int64_t times, const double* alphas, const double* means, const double* icf,
                        const double* points, int64_t count, int64_t stride, double gamma, int64_t extra,
                        double* galphas, double* gmeans, double* gicf) {
  unsigned before = fast_denormals();
  int64_t begin = nanoseconds();
  for (int64_t i = 0; i < times; i++) {
    gmm_gradient(alphas, means, icf, points, count, stride, gamma, extra, galphas, gmeans, gicf);
  }
  int64_t spent = nanoseconds() - begin;
  restore_denormals(before);
  return spent;
}
