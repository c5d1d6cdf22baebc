#include "watch.hpp"

namespace retrograd::compiler {
namespace {

// Whether the row can give a finite number for one that is not.
bool absorbs(const Instruction& instruction) {
  switch (instruction.code) {
    case Code::DOT:
    case Code::SUM:
    case Code::GATHER: return false;
    case Code::SELECT:  // what is not chosen does not show
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

std::vector<bool> watched_regions(const Program& program) {
  std::vector<bool> watched(program.regions.size());
  watched[program.roots[0].region] = true;
  for (const Instruction& instruction : program.instructions) {
    if (!absorbs(instruction)) continue;
    for (int i = 0; i < instruction.operands; ++i) {
      if (instruction.views[i].region != kNoRegion) watched[instruction.views[i].region] = true;
    }
    if (instruction.code == Code::INDEXED || instruction.through_pool) watched.assign(watched.size(), true);
  }
  return watched;
}

bool reads_parameters_unseen(const Program& program) {
  for (const Instruction& instruction : program.instructions) {
    // A parameter that is not chosen has nothing behind it that could be owed anything.
    if (!absorbs(instruction) || instruction.code == Code::SELECT) continue;
    if (instruction.code == Code::INDEXED || instruction.through_pool) return true;
    for (int i = 0; i < instruction.operands; ++i) {
      const uint32_t region = instruction.views[i].region;
      if (region != kNoRegion && program.regions[region].memory == Memory::PARAMETER) return true;
    }
  }
  return false;
}

}  // namespace retrograd::compiler
