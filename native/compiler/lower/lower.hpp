// Lowering: from the vector program to calls of kernels, forward and backward, for batches of up to `capacity`
// elements.
//
// The elements of a batch lie side by side in each region. A smaller batch is a prefix: its calls differ only in the
// length of one loop, that over the elements (or the loop it was coalesced with).
//
// If the program is strip-mined (strip_mining.hpp), the calls of a strip are repeated; their pointers advance from
// strip to strip.
//
// Reverse mode happens here, on whole instructions: the adjoint of a contraction d += a * b is two contractions with
// the roles permuted, that of a sum is a broadcast, that of a copy an addition.
#pragma once

#include "compiler/kernels/kernels.hpp"
#include "compiler/lower/strip_mining.hpp"

namespace retrograd::compiler {

// The passes of a machine, by what they compute and where the gradients of parameters go.
enum PassNumber : int {
  FORWARD,
  BACKWARD_ACCUMULATE,  // added to the parameter buffers' gradients
  BACKWARD_PRIVATE,     // left in the machine's own memory
  FUSED,                // forward and backward in one; gradients as BACKWARD_PRIVATE
  BACKWARD_OVERWRITE,   // as BACKWARD_ACCUMULATE when the buffers' gradients are zero: stores without reading
  kPasses
};

// The memory that a pointer of a call refers to.
enum class Space : uint8_t { NONE, VALUES, GRADIENTS, VALUE_BASE, GRADIENT_BASE, POOL, INDICES };

struct LoweredCall {
  KernelCall call{};
  Space spaces[kPointers]{};
  Address at[kPointers]{};
  Address strip_steps[kPointers]{};  // of a repeated call: how far each pointer advances per strip
  bool first_write = false;          // first to write these parameters' gradients: may store when they are zero
  uint32_t instruction = 0;          // the instruction of the program
  int batch_loop = -1;               // the loop over the batch, if any
  int32_t per_element = 0;           // that loop's iterations per batch element
};

// Calls [begin, end) of a pass compute one strip; they run `times` times in a row.
struct Repeat {
  size_t begin, end;
  uint32_t times;
  uint32_t iterations;  // of the strip-mined loop, each time
};

struct Pass {
  std::vector<LoweredCall> calls;
  std::vector<Repeat> repeats;
  size_t executed_calls() const;
};

// A range of addresses, one for each batch element, `stride` apart; shared by all elements if that is 0.
struct Range {
  Address begin, end, stride;
};

struct Lowered {
  uint32_t capacity = 1;        // largest batch
  std::vector<Address> base;    // of each region, for the first batch element; results come last
  std::vector<Address> stride;  // from one batch element to the
                                // next; 0 for what they share
  Address size = 0;
  Address contracted_begin = 0;  // where contracted regions begin: they come last
  std::vector<int32_t> pool;
  StripPlan strips;
  Pass forward, backward;
  // If the adjoint of a strip's results does not depend on the forward pass (as for a sum of losses), forward and
  // backward run fused, strip by strip, while the data is in the cache. `backward` has no calls then.
  Pass fused;
  bool is_fused() const { return !fused.calls.empty(); }
  std::vector<Range> zero_workspace;   // gradients of results and inputs to zero before a backward pass
  std::vector<Range> zero_parameters;  // the same of parameters
  bool addresses_parameters = false;   // some list names parameters: they must lie in the workspace

  const Pass& pass(int number) const { return number == FORWARD ? forward : number == FUSED ? fused : backward; }
  // The region that an address is in.
  uint32_t region_at(Address address) const;
  std::vector<uint32_t> order;  // the regions, sorted by base

  Address moved(const Program& program, uint32_t region, Address address) const {
    return base[region] + (address - program.regions[region].base);
  }
};

Lowered lower(const Program& program, uint32_t capacity);

}  // namespace retrograd::compiler
