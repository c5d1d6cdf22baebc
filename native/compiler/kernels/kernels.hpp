// The prebuilt kernels of the virtual machine: the layout of a call, and the choice of an instruction set.
//
// A kernel runs a nest of five loops with the extents `n`, outermost first. Its operands are arrays; `s[i]` are the
// strides of operand i, in elements. lower/ creates the calls, and run/machine.cpp binds them to memory.
#pragma once

#include <cstdint>
#include <vector>

namespace retrograd::compiler {

constexpr int kLoops = 5;
constexpr int kPointers = 8;

enum class Kernel : uint8_t {
  MAP,          // d = op(a, b, c)
  MAP_BACK,     // d += g * partial(a, b, y), d being the gradient of operand `which`
  ADD,          // d (+)= k * a
  PRODUCT,      // d (+)= k * a * b; no loop is summed over
  CONTRACT,     // d (+)= sum a * b over the loops in which d does not move; contiguous columns in the last loop but one
  CONTRACT_NN,  // GEMM, loops (o, o, M, N, K): a does not move in N, nor b in M; d and b have stride 1 in N
  CONTRACT_NT,  // GEMM, loops (o, o, M, N, K): a and b have stride 1 in K
  CONTRACT_GROUPS_SPREAD,  // loops (o, o, M, H, K): d[4h + j] (+)= sum_k a[h, k] * b[4h + j, k] for j in 0..3
  CONTRACT_GROUPS_DOT,     // loops (o, o, M, H, 1): d[h] (+)= sum_j a[4h + j] * b[4h + j]
  SUM,                     // d (+)= k * sum of a over the last loop
  EXTREME,                 // d = max or min of a over the last loop
  EXTREME_BACK,            // d += g / ties where a == y, over the last loop; for a FIRST op, g at the first such a
  GATHER,                  // d[i] = base[list[i]]
  SCATTER,                 // base[list[i]] += d[i]
  SELECT,                  // d = a[stride * index]
  SELECT_BACK,             // d += g, d being the gradient of the chosen number
  INDEXED,                 // d[i] = op(base[list_a[i]], …)
  INDEXED_BACK,            // gradients at the lists += g[i] * partial
  RAGGED,                  // what INDEXED does, on ragged rows; see ragged_rows
  RAGGED_BACK,
  FILL,    // d = k
  FINITE,  // reports a domain violation unless all n[4] numbers at d are finite
};

// One call. The pointers, by kernel:
//   0 d   1 a   2 b   3 c or y   4 g   5…7 lists of int32
// GATHER, SCATTER and INDEXED have the base of values in 1 and of gradients in 2. Their last loop runs along the lists,
// the loop around it over batch elements, whose lists are s[1] apart.
struct KernelCall {
  bool (*run)(const KernelCall&);  // true when an operation was outside its domain
  void* p[kPointers];
  double k;
  int32_t n[kLoops];
  int32_t s[4][kLoops];  // of d, a, b, and of c in MAP or of y and g in MAP_BACK
  Kernel kernel;
  uint8_t accumulate;
  uint8_t which;   // of MAP_BACK: the operand; of INDEXED_BACK: a mask of operands
  uint8_t pooled;  // of SELECT: the candidates are a list of addresses
  uint16_t row;
  uint8_t single;  // how many of the outermost loops run once
  int32_t stride;  // of SELECT; of RAGGED, the number of rows
};

using KernelFunction = bool (*)(const KernelCall&);

// One step of Adam on arrays (Kingma & Ba, 2015), as the reference engine computes it, but for the last bits. Epsilon
// is at least 1e-120.
struct AdamStep {
  double rate, beta1, beta2, epsilon, decay, unbiased_rate, correction;
  bool decoupled;
};

// A function of vectors: the numbers of `result`, each from one of `a`, and of `b` if the row has two operands.
using VectorFunction = void (*)(double* result, const double* a, const double* b);

// The kernels of one instruction set. A null member means: use the portable one.
struct KernelSet {
  const char* name;
  uint32_t width;                            // of a vector, in numbers
  VectorFunction (*function)(uint16_t row);  // null if the row has none
  KernelFunction (*find)(Kernel kernel, uint16_t row, uint8_t which);
  bool (*all_finite)(const double* numbers, int64_t count);
  void (*add_to)(double* sums, const double* numbers, int64_t count);
  void (*adam)(const AdamStep& step, int64_t count, double* m, double* v, const double* gradients, double* parameters);
};

// The best set that this processor runs, or the one that RETROGRAD_KERNELS names.
const KernelSet& best_kernels();
// A kernel for a call; never null.
KernelFunction find_kernel(const KernelSet& set, Kernel kernel, uint16_t row, uint8_t which);
// The portable kernel, which computes one number at a time.
KernelFunction find_generic(Kernel kernel, uint16_t row);
KernelFunction find_pooled_select(bool back);
// Where each row begins, if an INDEXED call of two operands (or its backward pass) works on ragged rows: contiguous
// numbers in rows of different lengths, with one contiguous number for each row. The end of the last row follows,
// repeated until the number of rows is divisible by eight. Empty for other calls, and for long rows.
std::vector<int32_t> ragged_rows(const KernelCall& call);
constexpr int kMostRows = 64, kMostInRows = 512;

}  // namespace retrograd::compiler
