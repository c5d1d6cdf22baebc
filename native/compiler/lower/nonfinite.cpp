#include "compiler/lower/nonfinite.hpp"

#include <algorithm>

namespace retrograd::compiler {
namespace {

// Whether the op can map a non-finite operand to a finite result.
bool absorbs(const Instruction& instruction) {
  switch (instruction.code) {
    case Code::DOT:
    case Code::SUM:
    case Code::GATHER: return false;
    case Code::SELECT:  // candidates that are not chosen do not affect the result
    case Code::EXTREME: return true;
    default: break;
  }
  switch (instruction.row) {
    case ROW_add:
    case ROW_sub:
    case ROW_mul:
    case ROW_neg:
    case ROW_square:
    case ROW_identity:
    case ROW_detach: return false;
    default: return true;
  }
}

}  // namespace

std::vector<bool> absorbing_regions(const Program& program) {
  std::vector<bool> absorbed(program.regions.size());
  for (const Instruction& instruction : program.instructions) {
    if (!absorbs(instruction)) continue;
    const auto mark = [&](uint32_t region) {
      // A parameter that SELECT does not pick gets no gradient, so a non-finite value in it is harmless.
      const bool chosen = instruction.code == Code::SELECT && program.regions[region].kind == RegionKind::PARAMETER;
      if (!chosen) absorbed[region] = true;
    };
    for (int i = 0; i < instruction.operands; ++i) {
      const View& view = instruction.views[i];
      if (view.region != kNoRegion) {
        mark(view.region);
      } else if (instruction.code == Code::INDEXED) {
        const auto list = program.pool.begin() + view.base;
        std::for_each(list, list + instruction.sizes[0], [&](int32_t at) { mark(region_at(program, at)); });
      }
    }
    if (instruction.through_pool) {
      for (const int32_t at : program.pool) mark(region_at(program, at));
    }
  }
  return absorbed;
}

}  // namespace retrograd::compiler
