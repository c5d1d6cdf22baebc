// The prebuilt kernels of the virtual machine: what one call looks like, and where each instruction set's are found.
//
// A kernel runs a nest of five loops of the extents `n`, outermost first. Its operands are arrays; `s[i]` are the
// strides of the i-th kind of operand, in elements. Calls are made by lower.cpp and bound to memory by machine.cpp.
#pragma once

#include <cstdint>
#include <vector>

namespace retrograd::compiler {

constexpr int kLoops = 5;
constexpr int kPointers = 8;

enum class Kernel : uint8_t {
  MAP,                     // d = row(a, b, c)
  MAP_BACK,                // d += g * partial(a, b, y), d being the gradient of operand `which`
  ADD,                     // d (+)= k * a
  PRODUCT,                 // d (+)= k * a * b; no loop is summed over
  CONTRACT,                // d (+)= sum a * b over any loops where d stands still; rows in the last but one, if any
  CONTRACT_NN,             // loops (o, o, M, N, K): a stands still in N, b in M; d and b have stride 1 in N
  CONTRACT_NT,             // loops (o, o, M, N, K): a and b have stride 1 in K
  CONTRACT_GROUPS_SPREAD,  // loops (o, o, M, H, K): d[4h + j] (+)= sum_k a[h, k] * b[4h + j, k] for j in 0..3
  CONTRACT_GROUPS_DOT,     // loops (o, o, M, H, 1): d[h] (+)= sum_j a[4h + j] * b[4h + j]
  SUM,                     // d (+)= k * sum of a over the last loop
  EXTREME,                 // d = max or min of a over the last loop
  EXTREME_BACK,            // d += g / ties where a == y, over the last loop; of a FIRST row, g where a == y first
  GATHER,                  // d[i] = base[list[i]]
  SCATTER,                 // base[list[i]] += d[i]
  SELECT,                  // d = a[stride * index]
  SELECT_BACK,             // d += g, d being the gradient of the chosen number
  INDEXED,                 // d[i] = row(base[list_a[i]], …)
  INDEXED_BACK,            // gradients at the lists += g[i] * partial
  RAGGED,                  // what INDEXED does on ragged rows; see ragged_rows
  RAGGED_BACK,
  FILL,    // d = k
  FINITE,  // whether all n[4] numbers at d are finite; else it says that one is outside
};

// One call. What the pointers are, by kernel:
//   0 d   1 a   2 b   3 c or y   4 g   5…7 lists of int32
// GATHER, SCATTER and INDEXED have the base of values in 1 and of gradients in 2; the last loop goes along the lists,
// the one around it over members of a batch, whose lists are s[1] apart.
struct KernelCall {
  bool (*run)(const KernelCall&);  // true when an operation was outside its domain
  void* p[kPointers];
  double k;
  int32_t n[kLoops];
  int32_t s[4][kLoops];  // of d, a, b, and of c in MAP or of y and g in MAP_BACK
  Kernel kernel;
  uint8_t accumulate;
  uint8_t which;   // of MAP_BACK: the operand; of INDEXED_BACK: a mask of operands
  uint8_t pooled;  // of SELECT: candidates are a list of addresses
  uint16_t row;
  uint8_t single;  // how many of the outermost loops run once
  int32_t stride;  // of SELECT; of RAGGED, how many rows
};

using KernelFunction = bool (*)(const KernelCall&);

// One step of Adam: m, v and the parameters move, as in src/retrograd/reference/steps.py but for the last bits. Epsilon
// is at least 1e-120.
struct AdamStep {
  double rate, beta1, beta2, epsilon, decay, unbiased_rate, correction;
  bool decoupled;
};

// What one build of the kernels offers; null where it has nothing better than the portable one.
struct KernelSet {
  const char* name;
  KernelFunction (*find)(Kernel kernel, uint16_t row, uint8_t which, bool float32);
  bool (*all_finite)(const double* numbers, int64_t count);
  void (*adam)(const AdamStep& step, int64_t count, double* m, double* v, const double* gradients, double* parameters);
};

// The best set that this processor runs, or the one that RETROGRAD_KERNELS names.
const KernelSet& best_kernels();
// A kernel for a call; never null.
KernelFunction find_kernel(const KernelSet& set, Kernel kernel, uint16_t row, uint8_t which, bool float32);
// The kernel that takes one number at a time.
KernelFunction find_generic(Kernel kernel, uint16_t row, bool float32);
KernelFunction find_pooled_select(bool back, bool float32);
// Where each of the rows begins if an INDEXED call of two operands, or its backward pass, works on ragged rows: on
// numbers that lie one behind the other, and for each row of them on one number, which lie one behind the other too.
// Where the last one ends follows, up to a number of rows that eight divides. Nothing for other calls, and for long
// ones.
std::vector<int32_t> ragged_rows(const KernelCall& call);
constexpr int kMostRows = 64, kMostInRows = 512;

}  // namespace retrograd::compiler
