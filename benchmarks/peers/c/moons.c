/* micrograd's demo by hand: an MLP 2-16-16-1 on 100 points, hinge loss and L2, explicit backward, gradient descent.
 *
 * Double precision, one thread. Vectors run over the points. Parameters lie in micrograd's order: for each neuron its
 * weights, then its bias; so a bias is the weight of one more input that is always 1.
 */
#include "tiles.h"

enum {
  SAMPLES = 100,
  WIDTH = 16,
  COLUMNS = (SAMPLES + LANES - 1) / LANES * LANES,
  ROW1 = 2 + 1,
  ROW2 = WIDTH + 1,
  LAYER2 = WIDTH * ROW1,
  LAYER3 = LAYER2 + WIDTH * ROW2,
  PARAMETERS = LAYER3 + ROW2,
  ROOM = PARAMETERS + LANES
};

static ALIGNED double parameter[ROOM], gradient[ROOM];
/* Each with its row of ones last. Points beyond the last have label and share 0, and add nothing. */
static ALIGNED double input[ROW1][COLUMNS], hidden1[ROW2][COLUMNS], hidden2[ROW2][COLUMNS];
static ALIGNED double label[COLUMNS], share[COLUMNS], score[COLUMNS];
static ALIGNED double dscore[COLUMNS], dhidden1[WIDTH][COLUMNS], dhidden2[WIDTH][COLUMNS];
static ALIGNED double by_column[COLUMNS][WIDTH], square[WIDTH][WIDTH];

INLINE void relu(double (*x)[COLUMNS]) {
  for (int i = 0; i < WIDTH; i++) {
    for (int c = 0; c < COLUMNS; c += LANES) store(&x[i][c], larger(load(&x[i][c]), (vec){0}));
  }
}

/* The derivative by what went into the ReLU that gave x. */
INLINE vec through_relu(const double* x, vec dx) { return choose(load(x) > 0, dx, (vec){0}); }

static double forward(void) {
  double* const w = parameter;
  product(WIDTH, &hidden1[0][0], w, ROW1, 1, &input[0][0], ROW1, COLUMNS, COLUMNS, 0);
  relu(hidden1);
  product(WIDTH, &hidden2[0][0], w + LAYER2, ROW2, 1, &hidden1[0][0], ROW2, COLUMNS, COLUMNS, 0);
  relu(hidden2);
  product(1, score, w + LAYER3, ROW2, 1, &hidden2[0][0], ROW2, COLUMNS, COLUMNS, 0);
  vec loss = {0}, squares = {0};
  for (int c = 0; c < COLUMNS; c += LANES) {
    vec margin = 1.0 - load(label + c) * load(score + c), part = load(share + c);
    loss += larger(margin, (vec){0}) * part;
    store(dscore + c, choose(margin > 0, -load(label + c) * part, (vec){0}));
  }
  for (int i = 0; i < PARAMETERS; i += LANES) squares += load(w + i) * load(w + i);
  return total(loss) + 1e-4 * total(squares);
}

/* out[i] = sum over the points of dy * x[i], for the WIDTH weights of a neuron and then for its bias. */
INLINE void row_gradients(double* out, const double* dy, double (*x)[COLUMNS]) {
  for (int first = 0; first < WIDTH; first += LANES) {
    vec sum[LANES];
    UNROLL for (int i = 0; i < LANES; i++) sum[i] = (vec){0};
    for (int c = 0; c < COLUMNS; c += LANES) {
      vec d = load(dy + c);
      UNROLL for (int i = 0; i < LANES; i++) sum[i] += d * load(&x[first + i][c]);
    }
    store(out + first, totals(sum));
  }
  vec bias = {0};
  for (int c = 0; c < COLUMNS; c += LANES) bias += load(dy + c);
  out[WIDTH] = total(bias);
}

/* The first hidden layer again, the other way round: three inputs are less work than turning it over. */
static void hidden1_by_column(void) {
  ALIGNED double by_input[ROW1][WIDTH];
  for (int i = 0; i < WIDTH; i++) {
    for (int j = 0; j < ROW1; j++) by_input[j][i] = parameter[i * ROW1 + j];
  }
  for (int c = 0; c < COLUMNS; c++) {
    UNROLL for (int i = 0; i < WIDTH; i += LANES) {
      vec sum = load(by_input[0] + i) * input[0][c] + load(by_input[1] + i) * input[1][c] + load(by_input[2] + i);
      store(by_column[c] + i, larger(sum, (vec){0}));
    }
  }
}

static void backward(void) {
  double *const w = parameter, *const g = gradient;
  row_gradients(g + LAYER3, dscore, hidden2);
  for (int i = 0; i < WIDTH; i++) {
    vec bias = {0};
    for (int c = 0; c < COLUMNS; c += LANES) {
      vec d = through_relu(&hidden2[i][c], w[LAYER3 + i] * load(dscore + c));
      bias += d;
      store(&dhidden2[i][c], d);
    }
    g[LAYER2 + i * ROW2 + WIDTH] = total(bias);
  }
  hidden1_by_column();
  outer(WIDTH, &square[0][0], WIDTH, &dhidden2[0][0], COLUMNS, &by_column[0][0], COLUMNS);
  for (int i = 0; i < WIDTH; i++) memcpy(g + LAYER2 + i * ROW2, square[i], sizeof square[i]);
  product(WIDTH, &dhidden1[0][0], w + LAYER2, 1, ROW2, &dhidden2[0][0], WIDTH, COLUMNS, COLUMNS, 0);
  for (int i = 0; i < WIDTH; i++) {
    vec sum[ROW1] = {{0}};
    for (int c = 0; c < COLUMNS; c += LANES) {
      vec d = through_relu(&hidden1[i][c], load(&dhidden1[i][c]));
      UNROLL for (int j = 0; j < ROW1; j++) sum[j] += d * load(&input[j][c]);
    }
    UNROLL for (int j = 0; j < ROW1; j++) g[i * ROW1 + j] = total(sum[j]);
  }
  for (int i = 0; i < PARAMETERS; i += LANES) store(g + i, load(g + i) + 2e-4 * load(w + i));
}

/* ---- what Python calls ---- */

EXPORT int64_t moons_parameters(void) { return PARAMETERS; }

/* Points as SAMPLES pairs, their labels of -1 and 1, and the parameters to start from. */
EXPORT void moons_set(const double* points, const double* labels, const double* parameters) {
  for (int c = 0; c < COLUMNS; c++) {
    int there = c < SAMPLES;
    input[0][c] = there ? points[2 * c] : 0;
    input[1][c] = there ? points[2 * c + 1] : 0;
    input[2][c] = hidden1[WIDTH][c] = hidden2[WIDTH][c] = 1;
    label[c] = there ? labels[c] : 0;
    share[c] = there ? 1.0 / SAMPLES : 0;
  }
  memcpy(parameter, parameters, sizeof(double) * PARAMETERS);
}

EXPORT void moons_get(double* parameters, double* gradients) {
  memcpy(parameters, parameter, sizeof(double) * PARAMETERS);
  memcpy(gradients, gradient, sizeof(double) * PARAMETERS);
}

/* Trains for some steps on all points; nanoseconds that it took. */
EXPORT int64_t moons_train(int64_t steps, double rate, double* losses) {
  unsigned before = fast_denormals();
  int64_t begin = nanoseconds();
  for (int64_t step = 0; step < steps; step++) {
    losses[step] = forward();
    backward();
    for (int i = 0; i < PARAMETERS; i += LANES) store(parameter + i, load(parameter + i) - rate * load(gradient + i));
  }
  int64_t spent = nanoseconds() - begin;
  restore_denormals(before);
  return spent;
}
