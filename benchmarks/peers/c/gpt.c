/* The scalar GPT by hand: forward, explicit backward, Adam, in double precision and one thread.
 *
 * RMSNorm without gain, no biases, one layer, ReLU, mean cross-entropy a document, mean over the members of a batch.
 * Compile with -DVOCABULARY= -DEMBEDDING= -DMEMBERS=. Parameters lie in one array in the order in which the Python
 * model lists them, each matrix as rows of one output. The positions of all members are columns side by side, so that
 * a matrix product sees them at once; only attention goes member by member.
 */
#include "tiles.h"

enum {
  V = VOCABULARY,
  E = EMBEDDING,
  BLOCK = 16,
  HEADS = 4,
  SIZE = E / HEADS, /* of a head */
  HIDDEN = 4 * E,
  COLUMNS = MEMBERS * BLOCK + (E < 64 ? 3 : 1) * LANES, /* rows that do not fall on each other in the cache */
  WTE = 0,
  WPE = WTE + V * E,
  OUTPUT = WPE + BLOCK * E,
  WQ = OUTPUT + V * E,
  WK = WQ + E * E,
  WV = WK + E * E,
  WO = WV + E * E,
  FC1 = WO + E * E,
  FC2 = FC1 + HIDDEN * E,
  PARAMETERS = FC2 + HIDDEN * E,
  ROOM = PARAMETERS + LANES
};

typedef double features[E][COLUMNS];

static ALIGNED double parameter[ROOM], gradient[ROOM], first[ROOM], second[ROOM];
/* The forward pass: x is the sum that runs through the layer, h its normed form, by stage. */
static ALIGNED features embedded, x1, h1, query, key, value, mixed, x2, h2, x3;
static ALIGNED double scale0[COLUMNS], scale1[COLUMNS], scale2[COLUMNS];
static ALIGNED double hidden[HIDDEN][COLUMNS], logits[V][COLUMNS], highest[COLUMNS], sums[COLUMNS];
static ALIGNED double weights[MEMBERS][HEADS][BLOCK][BLOCK]; /* of attention: [key position][query position] */
/* The backward pass: d means the derivative of the loss by what follows. */
static ALIGNED features dx, dh, dquery, dkey, dvalue, dmixed;
static ALIGNED double dhidden[HIDDEN][COLUMNS], share[COLUMNS];
static ALIGNED double by_column[COLUMNS][HIDDEN]; /* one activation the other way round */

static int columns, start[MEMBERS + 1], token[COLUMNS], target[COLUMNS], position[COLUMNS];

typedef struct {
  double beta1, beta2, epsilon, move, correction;
} adam_settings;

static adam_settings adam;
static int moving; /* whether the backward pass moves the parameters too */

INLINE vec moments(int i) {
  vec g = load(gradient + i), m = load(first + i) * adam.beta1 + g * (1 - adam.beta1);
  vec v = load(second + i) * adam.beta2 + g * g * (1 - adam.beta2);
  store(first + i, m);
  store(second + i, v);
  return v * adam.correction;
}

INLINE void move(int i, vec by) { store(parameter + i, load(parameter + i) - by); }

INLINE void by_series(int i) {
  vec v = moments(i);
  move(i, load(first + i) * adam.move * inverse(v * inverse_root(v) + adam.epsilon));
}

INLINE void by_root(int i) {
  vec v = moments(i);
  move(i, load(first + i) * adam.move * inverse(square_root(v) + adam.epsilon));
}

INLINE void by_divider(int i) {
  vec v = moments(i);
  move(i, load(first + i) * adam.move / (square_root(v) + adam.epsilon));
}

/* Adam over some parameters, as soon as their gradient is known and still at hand. Multiplications and the divider run
 * beside each other: a quick divider does three of five vectors, others the root of every second one. */
static void update(int from, int count) {
  if (!moving) return;
  int i = from, end = from + count;
  for (; __builtin_cpu_is("amd") && i + 10 * LANES <= end; i += 10 * LANES) {
    UNROLL for (int five = i; five < i + 10 * LANES; five += 5 * LANES) {
      by_series(five);
      by_divider(five + LANES);
      by_divider(five + 2 * LANES);
      by_series(five + 3 * LANES);
      by_divider(five + 4 * LANES);
    }
  }
  for (; i < end; i += 2 * LANES) {
    by_series(i);
    by_root(i + LANES);
  }
}

INLINE void norm(features out, double* scales, features x) {
  for (int c = 0; c < columns; c += LANES) {
    vec squares = {0};
    for (int i = 0; i < E; i++) squares += load(&x[i][c]) * load(&x[i][c]);
    vec scale = inverse_root(squares * (1.0 / E) + 1e-5);
    store(scales + c, scale);
    for (int i = 0; i < E; i++) store(&out[i][c], load(&x[i][c]) * scale);
  }
}

/* out (+)= the derivative by x, given the derivative dy by norm(x) = x * scale. */
INLINE void norm_backward(features out, features dy, features x, const double* scales, int add) {
  for (int c = 0; c < columns; c += LANES) {
    vec dot = {0}, scale = load(scales + c);
    for (int i = 0; i < E; i++) dot += load(&dy[i][c]) * load(&x[i][c]);
    dot *= scale * scale * scale * (1.0 / E);
    for (int i = 0; i < E; i++) {
      vec sum = load(&dy[i][c]) * scale - load(&x[i][c]) * dot;
      store(&out[i][c], add ? load(&out[i][c]) + sum : sum);
    }
  }
}

/* Column numbers of a vector that begins at column c. */
INLINE ivec numbers(int c) {
  ivec n;
  for (int lane = 0; lane < LANES; lane++) n[lane] = c + lane;
  return n;
}

/* A member's attention. Vectors run over the positions that ask; lanes past its end write columns that the next
 * member writes after it, or nobody reads. */
static void attention(int member) {
  const int at = start[member], length = start[member + 1] - at;
  for (int head = 0; head < HEADS; head++) {
    const int row = head * SIZE;
    double (*p)[BLOCK] = weights[member][head];
    for (int c = 0; c < length; c += LANES) {
      const int seen = c + LANES < length ? c + LANES : length;
      vec q[SIZE], out[SIZE], high = all(-1e300), sum = {0};
      UNROLL for (int j = 0; j < SIZE; j++) q[j] = load(&query[row + j][at + c]) * (1.0 / sqrt(SIZE));
      for (int s = 0; s < seen; s++) {
        vec score = {0};
        UNROLL for (int j = 0; j < SIZE; j++) score += q[j] * key[row + j][at + s];
        score = choose(numbers(c) >= s, score, all(-1e300));
        high = larger(high, score);
        store(&p[s][c], score);
      }
      for (int s = 0; s < seen; s++) {
        vec e = exponential(load(&p[s][c]) - high);
        sum += e;
        store(&p[s][c], e);
      }
      vec part = inverse(sum);
      UNROLL for (int j = 0; j < SIZE; j++) out[j] = (vec){0};
      for (int s = 0; s < seen; s++) {
        vec weight = load(&p[s][c]) * part;
        store(&p[s][c], weight);
        UNROLL for (int j = 0; j < SIZE; j++) out[j] += weight * value[row + j][at + s];
      }
      UNROLL for (int j = 0; j < SIZE; j++) store(&mixed[row + j][at + c], out[j]);
    }
  }
}

/* out[j] = sum over asking positions t of by_query[t][s] * x[j][t], with vectors over the positions s asked. */
INLINE void by_key(double (*out)[COLUMNS], double (*by_query)[BLOCK], double (*x)[COLUMNS], int length) {
  for (int s = 0; s < length; s += LANES) {
    vec sum[SIZE];
    UNROLL for (int j = 0; j < SIZE; j++) sum[j] = (vec){0};
    for (int t = s; t < length; t++) {
      vec weight = load(&by_query[t][s]);
      UNROLL for (int j = 0; j < SIZE; j++) sum[j] += weight * x[j][t];
    }
    UNROLL for (int j = 0; j < SIZE; j++) store(&out[j][s], sum[j]);
  }
}

static void attention_backward(int member) {
  const int at = start[member], length = start[member + 1] - at;
  ALIGNED double dscore[BLOCK][BLOCK], turned[BLOCK][BLOCK];
  for (int head = 0; head < HEADS; head++) {
    const int row = head * SIZE;
    double (*p)[BLOCK] = weights[member][head];
    for (int c = 0; c < length; c += LANES) {
      const int seen = c + LANES < length ? c + LANES : length;
      vec dout[SIZE], dq[SIZE], mean = {0};
      UNROLL for (int j = 0; j < SIZE; j++) dout[j] = load(&dmixed[row + j][at + c]);
      for (int s = 0; s < seen; s++) {
        vec dweight = {0};
        UNROLL for (int j = 0; j < SIZE; j++) dweight += dout[j] * value[row + j][at + s];
        mean += dweight * load(&p[s][c]);
        store(&dscore[s][c], dweight);
      }
      UNROLL for (int j = 0; j < SIZE; j++) dq[j] = (vec){0};
      for (int s = 0; s < seen; s++) {
        vec d = load(&p[s][c]) * (load(&dscore[s][c]) - mean) * (1.0 / sqrt(SIZE));
        store(&dscore[s][c], d);
        UNROLL for (int j = 0; j < SIZE; j++) dq[j] += d * key[row + j][at + s];
      }
      UNROLL for (int j = 0; j < SIZE; j++) store(&dquery[row + j][at + c], dq[j]);
      transposed(&turned[c][0], BLOCK, &dscore[0][c], BLOCK, seen, LANES);
    }
    by_key((double (*)[COLUMNS]) & dkey[row][at], turned, (double (*)[COLUMNS]) & query[row][at], length);
    for (int c = 0; c < length; c += LANES) {
      transposed(&turned[c][0], BLOCK, &p[0][c], BLOCK, c + LANES < length ? c + LANES : length, LANES);
    }
    by_key((double (*)[COLUMNS]) & dvalue[row][at], turned, (double (*)[COLUMNS]) & dmixed[row][at], length);
  }
}

/* Lays the next members side by side; the number of the document after them. */
static void batch(const int32_t* tokens, const int64_t* offsets) {
  columns = 0;
  for (int member = 0; member < MEMBERS; member++) {
    const int32_t* document = tokens + offsets[member];
    int length = (int)(offsets[member + 1] - offsets[member]) - 1;
    if (length > BLOCK) length = BLOCK;
    start[member] = columns;
    for (int i = 0; i < length; i++, columns++) {
      token[columns] = document[i];
      target[columns] = document[i + 1];
      position[columns] = i;
      share[columns] = 1.0 / (length * MEMBERS);
    }
  }
  start[MEMBERS] = columns;
}

static void forward(void) {
  double* const w = parameter;
  for (int c = 0; c < columns; c++) {
    const double *a = w + WTE + token[c] * E, *b = w + WPE + position[c] * E;
    for (int i = 0; i < E; i++) by_column[c][i] = a[i] + b[i];
  }
  transposed(&embedded[0][0], COLUMNS, &by_column[0][0], HIDDEN, columns, E);
  norm(x1, scale0, embedded);
  norm(h1, scale1, x1);
  product(E, &query[0][0], w + WQ, E, 1, &h1[0][0], E, COLUMNS, columns, 0);
  product(E, &key[0][0], w + WK, E, 1, &h1[0][0], E, COLUMNS, columns, 0);
  product(E, &value[0][0], w + WV, E, 1, &h1[0][0], E, COLUMNS, columns, 0);
  for (int member = 0; member < MEMBERS; member++) attention(member);
  memcpy(x2, x1, sizeof x2);
  product(E, &x2[0][0], w + WO, E, 1, &mixed[0][0], E, COLUMNS, columns, 1);
  norm(h2, scale2, x2);
  product(HIDDEN, &hidden[0][0], w + FC1, E, 1, &h2[0][0], E, COLUMNS, columns, 0);
  for (int i = 0; i < HIDDEN; i++) {
    for (int c = 0; c < columns; c += LANES) store(&hidden[i][c], larger(load(&hidden[i][c]), (vec){0}));
  }
  memcpy(x3, x2, sizeof x3);
  product(E, &x3[0][0], w + FC2, HIDDEN, 1, &hidden[0][0], HIDDEN, COLUMNS, columns, 1);
  product(V, &logits[0][0], w + OUTPUT, E, 1, &x3[0][0], E, COLUMNS, columns, 0);
}

/* The loss; the logits become its derivatives by them. */
static double cross_entropy(void) {
  double loss = 0;
  for (int c = 0; c < columns; c++) loss -= share[c] * logits[target[c]][c];
  for (int c = 0; c < columns; c += LANES) {
    vec high = load(&logits[0][c]), sum = {0};
    for (int i = 1; i < V; i++) high = larger(high, load(&logits[i][c]));
    for (int i = 0; i < V; i++) {
      vec e = exponential(load(&logits[i][c]) - high);
      sum += e;
      store(&logits[i][c], e);
    }
    store(highest + c, high);
    store(sums + c, sum);
    vec factor = load(share + c) / sum;
    for (int i = 0; i < V; i++) store(&logits[i][c], load(&logits[i][c]) * factor);
  }
  for (int member = 0; member < MEMBERS; member++) {
    double all_sums = 1, high = 0; /* one logarithm a document: 16 sums of at most V stay far from overflow */
    for (int c = start[member]; c < start[member + 1]; c++) all_sums *= sums[c], high += highest[c];
    loss += share[start[member]] * (log(all_sums) + high);
  }
  for (int c = 0; c < columns; c++) logits[target[c]][c] -= share[c];
  return loss;
}

static void backward(void) {
  double *const w = parameter, *const g = gradient;
  product(E, &dx[0][0], w + OUTPUT, 1, E, &logits[0][0], V, COLUMNS, columns, 0);
  transposed(&by_column[0][0], E, &x3[0][0], COLUMNS, E, columns);
  outer(V, g + OUTPUT, E, &logits[0][0], COLUMNS, &by_column[0][0], columns);
  update(OUTPUT, V * E);

  product(HIDDEN, &dhidden[0][0], w + FC2, 1, HIDDEN, &dx[0][0], E, COLUMNS, columns, 0);
  transposed(&by_column[0][0], HIDDEN, &hidden[0][0], COLUMNS, HIDDEN, columns);
  outer(E, g + FC2, HIDDEN, &dx[0][0], COLUMNS, &by_column[0][0], columns);
  update(FC2, HIDDEN * E);
  for (int i = 0; i < HIDDEN; i++) {
    for (int c = 0; c < columns; c += LANES) {
      store(&dhidden[i][c], choose(load(&hidden[i][c]) > 0, load(&dhidden[i][c]), (vec){0}));
    }
  }
  product(E, &dh[0][0], w + FC1, 1, E, &dhidden[0][0], HIDDEN, COLUMNS, columns, 0);
  transposed(&by_column[0][0], E, &h2[0][0], COLUMNS, E, columns);
  outer(HIDDEN, g + FC1, E, &dhidden[0][0], COLUMNS, &by_column[0][0], columns);
  update(FC1, HIDDEN * E);
  norm_backward(dx, dh, x2, scale2, 1);

  product(E, &dmixed[0][0], w + WO, 1, E, &dx[0][0], E, COLUMNS, columns, 0);
  transposed(&by_column[0][0], E, &mixed[0][0], COLUMNS, E, columns);
  outer(E, g + WO, E, &dx[0][0], COLUMNS, &by_column[0][0], columns);
  update(WO, E * E);
  for (int member = 0; member < MEMBERS; member++) attention_backward(member);
  product(E, &dh[0][0], w + WQ, 1, E, &dquery[0][0], E, COLUMNS, columns, 0);
  product(E, &dh[0][0], w + WK, 1, E, &dkey[0][0], E, COLUMNS, columns, 1);
  product(E, &dh[0][0], w + WV, 1, E, &dvalue[0][0], E, COLUMNS, columns, 1);
  transposed(&by_column[0][0], E, &h1[0][0], COLUMNS, E, columns);
  outer(E, g + WQ, E, &dquery[0][0], COLUMNS, &by_column[0][0], columns);
  outer(E, g + WK, E, &dkey[0][0], COLUMNS, &by_column[0][0], columns);
  outer(E, g + WV, E, &dvalue[0][0], COLUMNS, &by_column[0][0], columns);
  update(WQ, 3 * E * E);
  norm_backward(dx, dh, x1, scale1, 1);
  norm_backward(dx, dx, embedded, scale0, 0);

  transposed(&by_column[0][0], E, &dx[0][0], COLUMNS, E, columns);
  memset(g + WTE, 0, sizeof(double) * (V + BLOCK) * E);
  const double (*d)[E] = (const double (*)[E])by_column;
  for (int c = 0; c < columns; c++) {
    double *a = g + WTE + token[c] * E, *b = g + WPE + position[c] * E;
    for (int i = 0; i < E; i++) a[i] += d[c][i], b[i] += d[c][i];
  }
  update(WTE, (V + BLOCK) * E);
}

static double pass(const int32_t* tokens, const int64_t* offsets) {
  batch(tokens, offsets);
  forward();
  double loss = cross_entropy();
  backward();
  return loss;
}

/* ---- what Python calls ---- */

EXPORT int64_t gpt_parameters(void) { return PARAMETERS; }

EXPORT void gpt_set(const double* parameters) {
  memcpy(parameter, parameters, sizeof(double) * PARAMETERS);
  memset(first, 0, sizeof first);
  memset(second, 0, sizeof second);
}

EXPORT void gpt_get(double* parameters, double* gradients) {
  memcpy(parameters, parameter, sizeof(double) * PARAMETERS);
  memcpy(gradients, gradient, sizeof(double) * PARAMETERS);
}

/* The loss and, for gpt_get, the gradient on the first MEMBERS documents: document i is tokens[offsets[i] ...]. */
EXPORT double gpt_gradient(const int32_t* tokens, const int64_t* offsets) {
  moving = 0;
  return pass(tokens, offsets);
}

/* Trains for some steps of MEMBERS documents each, numbered from first_step; nanoseconds that it took. */
EXPORT int64_t gpt_train(const int32_t* tokens, const int64_t* offsets, int64_t steps, int64_t first_step, double rate,
                         double beta1, double beta2, double epsilon, double* losses) {
  unsigned before = fast_denormals();
  int64_t begin = nanoseconds();
  moving = 1;
  for (int64_t i = 0; i < steps; i++) {
    double step = (double)(first_step + i), unbias = 1 / (1 - pow(beta1, step));
    adam = (adam_settings){beta1, beta2, epsilon, rate * unbias, 1 / (1 - pow(beta2, step))};
    losses[i] = pass(tokens, offsets + i * MEMBERS);
  }
  int64_t spent = nanoseconds() - begin;
  restore_denormals(before);
  return spent;
}
