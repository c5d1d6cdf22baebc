// The vector program: instructions on nests of loops with affine addresses. The kernels (lower/) and the JAX backend
// are made from it; the LLVM backend reads the kernel calls that it was lowered to.
//
// Memory is one sequence of numbers, divided into regions: parameters, inputs, literals, and one region for each pack
// of isomorphic terms. An address is an index into that sequence. An instruction works on a nest of loops: `sizes` are
// the extents, outermost first, of which the last `reduced` are summed over. A view gives the address that each
// iteration touches: base plus the sum of index times stride. A view never leaves its region.
//
//   MAP       d = op(x, y, z)                     INDEXED  the same through lists of addresses in the pool
//   DOT       d = [init +] sum x * y              SUM      d = [init +] sum x      EXTREME  d = max or min of x
//   GATHER    d = the numbers at a list of addresses
//   SELECT    d = the number at x + stride * index, or at pool[x + index], by the index argument that y names
//
// Operands come before results. Reverse mode (lower.cpp) goes through the same list backwards: each instruction adds
// its adjoint's contribution to its operands' gradients (Griewank & Walther, Evaluating Derivatives).
#pragma once

#include <array>
#include <span>
#include <string>

#include "compiler/passes/reductions.hpp"

namespace retrograd::compiler {

constexpr int kRank = 8;  // loops of a nest at most
using Address = int64_t;
constexpr uint32_t kNoRegion = UINT32_MAX;

enum class RegionKind : uint8_t {
  PARAMETER,  // a parameter buffer, shared by all elements of a batch
  INPUT,      // numbers that come with each call
  LITERAL,    // numbers in the program
  VALUE,      // results
};

constexpr const char* kRegionKindNames[] = {"parameter", "input", "literal", "value"};

struct Region {
  RegionKind kind;
  bool active;  // a gradient is wanted of something
                // that it depends on
  Address base;
  uint32_t length;
  uint32_t buffer;  // of a PARAMETER region: which buffer
};

enum class Code : uint8_t { MAP, INDEXED, DOT, SUM, EXTREME, GATHER, SELECT };

struct View {
  uint32_t region = kNoRegion;  // kNoRegion: a list in the pool,
                                // or index arguments
  Address base = 0;
  std::array<int32_t, kRank> strides{};
  friend bool operator==(const View&, const View&) = default;
};

struct Instruction {
  Code code;
  uint16_t row = 0;
  uint8_t rank = 0;           // number of loops
  uint8_t reduced = 0;        // how many of them, the innermost, are summed over
  uint8_t operands = 0;       // number of views: x, y, z
  bool has_init = false;      // of a DOT: its init is views[2]
  bool through_pool = false;  // of a SELECT: x is a list in the pool
  int32_t stride = 0;         // of a SELECT
  uint32_t limit = 0;         // of a SELECT: indices are below it
  uint32_t source = 0;        // the user's line
  uint32_t terms = 0;         // scalar results that it computes
  std::array<uint32_t, kRank> sizes{};
  View result;
  std::array<View, 3> views{};
};

struct Location {
  uint32_t region = kNoRegion;
  Address address = -1;
  friend bool operator==(const Location&, const Location&) = default;
};

struct Program {
  std::vector<Region> regions;
  std::vector<Instruction> instructions;
  std::vector<int32_t> pool;
  Address size = 0;                // of memory
  std::vector<Location> literals;  // of each literal; address -1 if nothing reads it
  std::vector<Location> roots;
  std::vector<Address> nodes;          // of each graph node; -1 if it has no address of its own
  std::vector<uint32_t> index_limits;  // of each index argument: the number of candidates; 0 if unused
  size_t groups = 0;
  size_t terms = 0;
};

// Where a leaf is: in a parameter buffer, or among the inputs of the call.
struct LeafLocation {
  RegionKind kind;
  bool active;
  uint32_t buffer;  // of a parameter
  uint32_t offset;  // in the buffer, or among the active or inactive inputs
};
struct LeafLayout {
  std::vector<LeafLocation> locations;  // of each leaf of the graph
  std::vector<uint32_t> buffer_sizes;   // of each buffer
  uint32_t active_inputs = 0, inactive_inputs = 0;
};

// Whether a large program's terms differ so much that its packs are small.
constexpr bool is_irregular(size_t terms, size_t groups) { return terms >= 10'000 && groups * 64 >= terms; }

// Checks the invariants stated above. Returns the first violation in words, or an empty string.
std::string verify(const Program& program, bool every_address);

// The region that an address is in.
uint32_t region_at(const Program& program, Address address);

// The instruction that writes each of some addresses, or the number of instructions if none does.
std::vector<size_t> producers_of(const Program& program, std::span<const Address> addresses);

}  // namespace retrograd::compiler
