// From the vector program to calls of kernels, forward and backward, for up to so many members of a batch.
//
// Members lie side by side in each region, the first one first: fewer members are a prefix, and the calls that serve
// them differ in the length of one loop, that over the members (or over what it was joined with).
//
// Where the program runs in strips (strip_mining.hpp), the calls of a strip are repeated, their pointers moving from
// one strip to the next.
//
// Reverse mode happens here, on whole instructions: the adjoint of a contraction d += a * b is two contractions with
// the roles permuted, that of a sum is a spread, that of a copy an addition.
#pragma once

#include "compiler/kernels/kernels.hpp"
#include "compiler/lower/strip_mining.hpp"

namespace retrograd::compiler {

// What a machine runs: which calls, and what becomes of the gradients of parameters.
enum PassNumber : int {
  FORWARD,
  BACKWARD_ACCUMULATE,  // backward; they are added to the buffers'
  BACKWARD_PRIVATE,     // backward; they are left in the machine's own memory
  FUSED,                // forward and backward in one, as BACKWARD_PRIVATE
  BACKWARD_OVERWRITE,   // as BACKWARD_ACCUMULATE, where the buffers' are zero and need not be read
  kPasses
};

// What memory a pointer of a call is into.
enum class Space : uint8_t { NONE, VALUES, GRADIENTS, VALUE_BASE, GRADIENT_BASE, POOL, INDICES };

struct LoweredCall {
  KernelCall call{};
  Space spaces[kPointers]{};
  Address at[kPointers]{};
  Address
      strip_steps[kPointers]{};  // of a call that is repeated: how far each pointer moves from one strip to the next
  bool first_write = false;      // writes to parameters that no call before it has: buffers where gradients are zero
  uint32_t instruction = 0;      // of the program
  int batch_loop = -1;           // the loop over the members, if there is one, and
  int32_t per_element = 0;       // its iterations for each of them
};

// Calls [begin, end) of a pass, which do one strip and run so many times one after the other.
struct Repeat {
  size_t begin, end;
  uint32_t times;
  uint32_t iterations;  // of the loop that strips are of, each time
};

struct Pass {
  std::vector<LoweredCall> calls;
  std::vector<Repeat> repeats;
  size_t executed_calls() const;
};

// Places that each member has its own of, `stride` apart; shared by all where that is 0.
struct Range {
  Address begin, end, stride;
};

struct Lowered {
  uint32_t capacity = 1;        // members at most
  std::vector<Address> base;    // of each region, for the first member of the batch; results come last
  std::vector<Address> stride;  // from one member to the next; 0 for what they share
  Address size = 0;
  Address contracted_begin = 0;  // where local regions begin, which come last of all
  std::vector<int32_t> pool;
  StripPlan strips;
  Pass forward, backward;
  // Where what a strip's results are owed is known beforehand, as that of a sum of losses: fused passes in one, so that
  // a strip goes forward and back while it is in the cache. `backward` has no calls then.
  Pass fused;
  bool is_fused() const { return !fused.calls.empty(); }
  std::vector<Range> zero_workspace;   // gradients of results and inputs that the first contribution does not buffer
  std::vector<Range> zero_parameters;  // the same of parameters
  bool addresses_parameters = false;   // through lists: then they must be in the same memory as results

  const Pass& pass(int number) const { return number == FORWARD ? forward : number == FUSED ? fused : backward; }
  // The region that an address is in.
  uint32_t region_at(Address address) const;
  std::vector<uint32_t> order;  // the regions by their bases

  Address moved(const Program& program, uint32_t region, Address address) const {
    return base[region] + (address - program.regions[region].base);
  }
};

Lowered lower(const Program& program, uint32_t capacity);

}  // namespace retrograd::compiler
