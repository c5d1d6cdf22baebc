#include "compiler/lower/kernel_selection.hpp"

#include <algorithm>
#include <cstdlib>

namespace retrograd::compiler {

Loops coalesced(Loops loops) {
  std::erase_if(loops, [](const CallLoop& loop) { return loop.n == 1; });
  auto continues = [](const CallLoop& outer, const CallLoop& inner) {
    for (int w = 0; w < 4; ++w) {
      if (outer.s[w] != inner.n * inner.s[w]) return false;
    }
    return !inner.batch;  // the batch size is known at run time only
  };
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < loops.size() && !again; ++i) {
      for (size_t j = 0; j < loops.size() && !again; ++j) {
        if (i == j || !continues(loops[i], loops[j])) continue;
        loops[j].n *= loops[i].n;
        loops[j].batch = loops[i].batch;
        loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
        again = true;
      }
    }
  }
  return loops;
}

CallLoop remove_loop(Loops& loops, size_t i) {
  CallLoop loop = loops[i];
  loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  return loop;
}

CallLoop take_unit_stride(Loops& loops) {
  return take_best(loops, longest([](const CallLoop& loop) {
                     return loop.s[0] == 1 && loop.s[1] == 1 && (loop.s[2] == 1 || loop.s[2] == 0);
                   }));
}

namespace {

// Which operand's strides a pointer moves by (an index into CallLoop::s); -1 for none.
int kind_of(Kernel kernel, int pointer) {
  if (pointer <= 3) return pointer;
  if (pointer == 4) return 3;
  return kernel == Kernel::SELECT || kernel == Kernel::SELECT_BACK ? (pointer == 5 ? 2 : -1) : -1;
}

int32_t to_int(int64_t stride) {
  if (stride > INT32_MAX || stride < INT32_MIN)
    throw Unsupported("the function needs more memory than can be addressed");
  return static_cast<int32_t>(stride);
}

Loops swapped(Loops loops) {
  for (CallLoop& loop : loops) std::swap(loop.s[1], loop.s[2]);
  return loops;
}

// Whether two loops never reach the same element of d.
bool distinct(const CallLoop& x, const CallLoop& y) {
  const int64_t sx = std::llabs(x.s[0]), sy = std::llabs(y.s[0]);
  return sx >= sy * y.n || sy >= sx * x.n;
}

}  // namespace

LoweredCall KernelSelector::new_call(Kernel kernel, std::initializer_list<Operand> operands) const {
  LoweredCall lowered;
  lowered.call.kernel = kernel;
  lowered.call.k = 1.0;
  lowered.instruction = current_;
  int i = 0;
  for (const Operand& operand : operands) {
    lowered.spaces[i] = operand.space;
    lowered.strip_steps[i] = operand.move;
    lowered.at[i++] = operand.at;
  }
  return lowered;
}

void KernelSelector::emit(LoweredCall lowered, Loops outer, const Loops& inner) {
  const size_t room = kLoops - inner.size();
  if (outer.size() > room) {
    std::sort(outer.begin(), outer.end(),
              [](const CallLoop& a, const CallLoop& b) { return std::pair(a.batch, a.n) < std::pair(b.batch, b.n); });
    const CallLoop loop = remove_loop(outer, 0);
    for (int i = 0; i < loop.n; ++i) {
      LoweredCall one = lowered;
      for (int p = 0; p < kPointers; ++p) {
        const int kind = kind_of(lowered.call.kernel, p);
        if (kind >= 0 && one.spaces[p] != Space::NONE) one.at[p] += loop.s[kind] * i;
      }
      emit(one, outer, inner);
    }
    return;
  }
  while (outer.size() < room) outer.insert(outer.begin(), CallLoop{});
  outer.insert(outer.end(), inner.begin(), inner.end());
  for (int i = 0; i < kLoops; ++i) {
    const CallLoop& loop = outer[static_cast<size_t>(i)];
    lowered.call.n[i] = loop.n;
    for (int w = 0; w < 4; ++w) lowered.call.s[w][i] = to_int(loop.s[w]);
    if (!loop.batch) continue;
    lowered.batch_loop = i;
    lowered.per_element = loop.n / static_cast<int32_t>(batch_size_);
  }
  before_emit(lowered);
  out_->push_back(lowered);
}

void KernelSelector::elementwise(const LoweredCall& call, Loops loops) {
  loops = coalesced(loops);
  const CallLoop inner = take_best(loops, [](const CallLoop& loop) {
    int64_t score = loop.n;
    if (loop.s[0] == 1) score += int64_t{1} << 40;
    for (int w = 1; w < 4; ++w) {
      if (loop.s[w] == 0 || loop.s[w] == 1) score += int64_t{1} << 36;
    }
    return score;
  });
  emit(call, loops, {inner});
}

void KernelSelector::add(Operand d, Operand a, Loops loops, double k, bool accumulate) {
  loops = coalesced(loops);
  const bool reduces = std::any_of(loops.begin(), loops.end(), [](const CallLoop& loop) { return loop.s[0] == 0; });
  const bool rows = std::any_of(loops.begin(), loops.end(),
                                [](const CallLoop& loop) { return loop.s[0] == 1 && loop.s[1] == 1 && loop.n >= 4; });
  if (reduces && rows && !accumulate) {
    fill(d, loops);
    accumulate = true;
  }
  LoweredCall call = new_call(Kernel::ADD, {d, a});
  call.call.k = k;
  call.call.accumulate = accumulate;
  const CallLoop inner = take_best(loops, [&](const CallLoop& loop) {
    const bool row = loop.s[0] == 1 && (loop.s[1] == 0 || loop.s[1] == 1);
    int64_t score = loop.n;
    if (row && (!reduces || rows)) score += int64_t{1} << 40;
    if (loop.s[0] == 0) score += int64_t{1} << (loop.s[1] == 1 ? 38 : 37);
    return score;
  });
  if (inner.s[0] == 0 && inner.n > 1) call.call.kernel = Kernel::SUM;
  emit(call, loops, {inner});
}

void KernelSelector::sum(Operand d, Operand a, Loops loops, bool accumulate) {
  loops = coalesced(loops);
  const auto reduced = std::count_if(loops.begin(), loops.end(), [](const CallLoop& loop) { return loop.s[0] == 0; });
  if (!accumulate && reduced > 1) {
    fill(d, loops);
    accumulate = true;
  }
  add(d, a, loops, 1.0, accumulate);
}

void KernelSelector::fill(Operand d, Loops loops) {
  std::erase_if(loops, [](const CallLoop& loop) { return loop.s[0] == 0; });
  for (CallLoop& loop : loops) loop.s[1] = loop.s[2] = loop.s[3] = 0;
  LoweredCall call = new_call(Kernel::FILL, {d});
  call.call.k = 0.0;
  emit(call, coalesced(loops), {});
}

void KernelSelector::contract(Operand d, Operand a, Operand b, Loops loops, bool accumulate) {
  loops = coalesced(loops);
  const auto reduced = std::count_if(loops.begin(), loops.end(), [](const CallLoop& loop) { return loop.s[0] == 0; });
  if (!accumulate && reduced > 1) {
    fill(d, loops);
    accumulate = true;
  }
  if (contract_groups(d, a, b, loops, accumulate) || contract_nn(d, a, b, loops, accumulate) ||
      contract_nt(d, a, b, loops, accumulate)) {
    return;
  }
  LoweredCall call = new_call(reduced ? Kernel::CONTRACT : Kernel::PRODUCT, {d, a, b});
  call.call.accumulate = accumulate;
  if (!reduced) return scale(call, loops);
  const CallLoop inner = take_best(loops, longest([](const CallLoop& loop) { return loop.s[0] == 0; }));
  emit(call, loops, {take_unit_stride(loops), inner});
}

void KernelSelector::scale(const LoweredCall& call, Loops loops) {
  const CallLoop inner = take_best(loops, [&](const CallLoop& loop) {
    auto unit = [](int64_t s) { return s == 0 || s == 1; };
    int64_t score = loop.n;
    if (loop.s[0] == 1 && unit(loop.s[1]) && unit(loop.s[2])) score += int64_t{1} << 38;
    return score;
  });
  emit(call, loops, {inner});
}

// Four columns at a time, as attention heads of four dimensions.
bool KernelSelector::contract_groups(Operand d, Operand a, Operand b, const Loops& all, bool accumulate) {
  for (int swap = 0; swap < 2; ++swap) {
    const Loops loops = swap ? swapped(all) : all;
    if (swap) std::swap(a, b);
    for (size_t j = 0; j < loops.size(); ++j) {
      if (loops[j].n != 4 || loops[j].batch || loops[j].s[2] != 1) continue;
      for (size_t h = 0; h < loops.size(); ++h) {
        if (h == j || loops[h].n < 2 || loops[h].s[2] != 4) continue;
        Loops rest = loops;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(std::max(j, h)));
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(std::min(j, h)));
        const bool spread = loops[j].s[0] == 1 && loops[j].s[1] == 0 && loops[h].s[0] == 4 && loops[h].s[1] != 0;
        const bool dot = loops[j].s[0] == 0 && loops[j].s[1] == 1 && loops[h].s[1] == 4 && loops[h].s[0] != 0;
        if (!spread && !dot) continue;
        CallLoop k;
        if (spread) k = take_best(rest, longest([](const CallLoop& loop) { return loop.s[0] == 0; }));
        const bool more = std::any_of(rest.begin(), rest.end(), [](const CallLoop& loop) { return loop.s[0] == 0; });
        if (more && !accumulate) continue;
        LoweredCall call = new_call(spread ? Kernel::CONTRACT_GROUPS_SPREAD : Kernel::CONTRACT_GROUPS_DOT, {d, a, b});
        call.call.accumulate = accumulate;
        const CallLoop m = take_best(rest, longest([](const CallLoop&) { return true; }));
        emit(call, rest, {m, loops[h], k});
        return true;
      }
    }
  }
  return false;
}

// GEMM with contiguous columns (NN): d[m, n] += a[m, k] * b[k, n].
bool KernelSelector::contract_nn(Operand d, Operand a, Operand b, const Loops& all, bool accumulate) {
  const bool reduces = std::any_of(all.begin(), all.end(), [](const CallLoop& loop) { return loop.s[0] == 0; });
  auto is_column = [](const CallLoop& loop) { return loop.s[0] == 1 && loop.s[2] == 1 && loop.s[1] == 0; };
  auto best = [&](const Loops& loops) {
    int32_t n = 0;
    for (const CallLoop& loop : loops) n = is_column(loop) ? std::max(n, loop.n) : n;
    return n;
  };
  Loops loops = all;
  if (best(swapped(all)) > best(all)) {
    loops = swapped(all);
    std::swap(a, b);
  }
  if (best(loops) == 0) return false;
  CallLoop n = take_best(loops, longest(is_column));
  CallLoop k = take_best(loops, longest([](const CallLoop& loop) { return loop.s[0] == 0; }));
  // Rows of a tile must not overlap.
  CallLoop m = take_best(loops, longest([&](const CallLoop& loop) {
                           return loop.s[2] == 0 && loop.s[0] != 0 && std::llabs(loop.s[0]) >= n.n;
                         }));
  if (!reduces && m.n == 1) return false;  // scaled rows: PRODUCT
  LoweredCall call = new_call(Kernel::CONTRACT_NN, {d, a, b});
  call.call.accumulate = accumulate;
  emit(call, loops, {m, n, k});
  return true;
}

// GEMM along contiguous rows (NT): d[m, n] += sum over k of a[m, n, k] * b[m, n, k], both with stride 1 in k.
bool KernelSelector::contract_nt(Operand d, Operand a, Operand b, const Loops& all, bool accumulate) {
  Loops loops = all;
  CallLoop k = take_best(
      loops, longest([](const CallLoop& loop) { return loop.s[0] == 0 && loop.s[1] == 1 && loop.s[2] == 1; }));
  if (k.n == 1) return false;
  // Columns share one row, if they can.
  auto score = [](const CallLoop& loop, int a_index) -> int64_t {
    if (loop.s[0] == 0) return 0;
    const bool shared = loop.s[a_index] == 0 && loop.s[3 - a_index] != 0;
    return (shared ? 4000 : 0) + (loop.s[0] == 1 ? 2000 : 0) + std::min(loop.n, 8) * 100 + std::min(loop.n, 99);
  };
  int64_t plain = 0, other = 0;
  for (const CallLoop& loop : loops) {
    plain = std::max(plain, score(loop, 1));
    other = std::max(other, score(loop, 2));
  }
  if (other > plain) {
    loops = swapped(loops);
    std::swap(a, b);
  }
  const CallLoop n = take_best(loops, [&](const CallLoop& loop) { return score(loop, 1); });
  CallLoop m;
  if (n.s[1] == 0) {
    // A tile is two rows of columns: they must not overlap.
    m = take_best(loops,
                  longest([&](const CallLoop& loop) { return loop.s[0] != 0 && loop.s[2] == 0 && distinct(loop, n); }));
  }
  LoweredCall call = new_call(Kernel::CONTRACT_NT, {d, a, b});
  call.call.accumulate = accumulate;
  emit(call, loops, {m, n, k});
  return true;
}

}  // namespace retrograd::compiler
