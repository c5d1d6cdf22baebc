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

// Whether the op only compares its operands, or gives one of them: an infinite constant among them does no harm.
bool chooses(const Instruction& instruction) {
  if (instruction.code == Code::SELECT || instruction.code == Code::EXTREME) return true;
  switch (instruction.row) {
    case ROW_where:
    case ROW_less:
    case ROW_less_equal:
    case ROW_greater:
    case ROW_greater_equal:
    case ROW_equal:
    case ROW_not_equal:
    case ROW_FIRST_MAX:
    case ROW_FIRST_MIN: return true;
    default: return false;
  }
}

// Whether the op copies numbers from anywhere, as a list in the pool says.
bool is_copy(const Instruction& instruction) {
  return instruction.code == Code::GATHER && instruction.rank == 1 && instruction.operands == 1 &&
         instruction.views[0].region == kNoRegion && instruction.views[0].strides[0] == 1;
}

}  // namespace

std::vector<bool> absorbing_regions(const Program& program) {
  const size_t count = program.regions.size();
  std::vector<bool> absorbed(count), chosen(count), copied(count), computed(count);
  for (const Instruction& instruction : program.instructions) {
    (is_copy(instruction) ? copied : computed)[instruction.result.region] = true;
  }
  // Readers come first: what a copy is read for, its sources are read for.
  for (size_t i = program.instructions.size(); i-- > 0;) {
    const Instruction& instruction = program.instructions[i];
    const uint32_t result = instruction.result.region;
    const bool copy = is_copy(instruction);
    if (!copy && !absorbs(instruction)) continue;
    const bool arithmetic = copy ? absorbed[result] : !chooses(instruction);
    const bool choice = copy ? chosen[result] : chooses(instruction);
    const auto mark = [&](uint32_t region) {
      // A parameter that SELECT does not pick gets no gradient, so a non-finite value in it is harmless.
      if (instruction.code == Code::SELECT && program.regions[region].kind == RegionKind::PARAMETER) return;
      absorbed[region] = absorbed[region] || arithmetic;
      chosen[region] = chosen[region] || choice;
    };
    for (int k = 0; k < instruction.operands; ++k) {
      const View& view = instruction.views[k];
      if (view.region != kNoRegion) {
        mark(view.region);
      } else if (copy || instruction.code == Code::INDEXED) {
        const auto list = program.pool.begin() + view.base;
        std::for_each(list, list + instruction.sizes[0], [&](int32_t at) { mark(region_at(program, at)); });
      }
    }
    if (instruction.through_pool) {
      for (const int32_t at : program.pool) mark(region_at(program, at));
    }
  }
  std::vector<bool> watched(count);
  for (size_t region = 0; region < count; ++region) {
    const bool is_number = program.regions[region].kind == RegionKind::LITERAL;
    const bool only_copied = copied[region] && !computed[region];
    watched[region] = !only_copied && (absorbed[region] || (chosen[region] && !is_number));
  }
  return watched;
}

}  // namespace retrograd::compiler
