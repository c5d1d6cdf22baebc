// The portable kernels, which support every op of the table, and the choice of an instruction set.
#include "compiler/kernels/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "compiler/graph/graph.hpp"

namespace retrograd::compiler {

namespace portable {
extern const KernelSet kSet;
}
#ifdef RETROGRAD_X86
namespace avx2 {
extern const KernelSet kSet;
}
namespace avx512 {
extern const KernelSet kSet;
}
#endif

namespace {

double* out(const KernelCall& call, int i = 0) { return static_cast<double*>(call.p[i]); }
const double* in(const KernelCall& call, int i) { return static_cast<const double*>(call.p[i]); }
const int32_t* list(const KernelCall& call, int i) { return static_cast<const int32_t*>(call.p[i]); }

// Calls body(offsets) for each iteration of the five loops; offsets[w] is that of operand w.
template <class Body>
void each(const KernelCall& call, Body body) {
  int64_t o[4];
  for (int i0 = 0; i0 < call.n[0]; ++i0) {
    for (int i1 = 0; i1 < call.n[1]; ++i1) {
      for (int i2 = 0; i2 < call.n[2]; ++i2) {
        for (int i3 = 0; i3 < call.n[3]; ++i3) {
          for (int w = 0; w < 4; ++w) {
            o[w] = int64_t{i0} * call.s[w][0] + int64_t{i1} * call.s[w][1] + int64_t{i2} * call.s[w][2] +
                   int64_t{i3} * call.s[w][3];
          }
          for (int i4 = 0; i4 < call.n[4]; ++i4) {
            body(o);
            for (int w = 0; w < 4; ++w) o[w] += call.s[w][4];
          }
        }
      }
    }
  }
}

// For each op: y = call(a, b, c), whether that is outside its domain, and the partials that are not structurally zero.
// `operands` are a, b and c.
template <class R>
struct Row3 {
  static constexpr int arity = 1;
};

#define RG_ROW_BODY(ar, forward_, domain_)                                                               \
  static constexpr int arity = ar;                                                                       \
  static double call([[maybe_unused]] double a, [[maybe_unused]] double b, [[maybe_unused]] double c) {  \
    return forward_;                                                                                     \
  }                                                                                                      \
  static bool outside([[maybe_unused]] double a, [[maybe_unused]] double b, [[maybe_unused]] double y) { \
    return (domain_) != 0;                                                                               \
  }
#define RG_PARTIAL(which, guard, partial) \
  if (i == which) {                       \
    if (!(guard)) return false;           \
    *result = partial;                    \
    return true;                          \
  }
#define RG_PARTIALS(list_)                                                                                    \
  static bool partial(int i, [[maybe_unused]] double a, [[maybe_unused]] double b, [[maybe_unused]] double c, \
                      [[maybe_unused]] double y, double* result) {                                            \
    list_ return false;                                                                                       \
  }
#define RG_OP1(name, label, forward, g1, d1, rule)         \
  template <>                                              \
  struct Row3<Rule_##name> {                               \
    RG_ROW_BODY(1, f_##name(a), Rule_##name::domain(a, y)) \
    RG_PARTIALS(RG_PARTIAL(0, g1, d1))                     \
  };
#define RG_OP2(name, label, forward, g1, d1, g2, d2, rule)       \
  template <>                                                    \
  struct Row3<Rule_##name> {                                     \
    RG_ROW_BODY(2, f_##name(a, b), Rule_##name::domain(a, b, y)) \
    RG_PARTIALS(RG_PARTIAL(0, g1, d1) RG_PARTIAL(1, g2, d2))     \
  };
#define RG_OP3(name, label, forward, g1, d1, g2, d2, g3, d3, rule)                 \
  template <>                                                                      \
  struct Row3<Rule_##name> {                                                       \
    RG_ROW_BODY(3, f_##name(a, b, c), 0)                                           \
    RG_PARTIALS(RG_PARTIAL(0, g1, d1) RG_PARTIAL(1, g2, d2) RG_PARTIAL(2, g3, d3)) \
  };
#include "ops/ops.inc"

template <class R>
bool map(const KernelCall& call) {
  bool outside = false;
  double* d = out(call);
  const double *a = in(call, 1), *b = in(call, 2), *c = in(call, 3);
  each(call, [&](const int64_t* o) {
    const double x = a[o[1]], z = Row3<R>::arity > 1 ? b[o[2]] : 0.0, w = Row3<R>::arity > 2 ? c[o[3]] : 0.0;
    const double y = Row3<R>::call(x, z, w);
    outside |= Row3<R>::outside(x, z, y);
    d[o[0]] = y;
  });
  return outside;
}

// The operands that an op's partials may read: both of two, and the condition of three.
template <class R>
bool map_back(const KernelCall& call) {
  double* d = out(call);
  const double *a = in(call, 1), *b = in(call, 2), *y = in(call, 3), *g = in(call, 4);
  if (!call.accumulate) each(call, [&](const int64_t* o) { d[o[0]] = 0.0; });
  each(call, [&](const int64_t* o) {
    const double gradient = g[o[3]];
    if (gradient == 0.0) return;
    const double x = a[o[1]], z = Row3<R>::arity == 2 ? b[o[2]] : 0.0;
    double partial;
    if (Row3<R>::partial(call.which, x, z, 0.0, y[o[3]], &partial)) d[o[0]] += gradient * partial;
  });
  return false;
}

// Calls body(entry, result) for each batch element and each entry of its lists; both are offsets.
template <class Body>
void each_entry(const KernelCall& call, Body body) {
  for (int64_t m = 0; m < call.n[3]; ++m) {
    for (int64_t i = 0; i < call.n[4]; ++i) body(m * call.s[1][3] + i, m * call.s[0][3] + i);
  }
}

template <class R>
bool indexed(const KernelCall& call) {
  bool outside = false;
  double* d = out(call);
  const double* base = in(call, 1);
  const int32_t *la = list(call, 5), *lb = list(call, 6), *lc = list(call, 7);
  each_entry(call, [&](int64_t i, int64_t result) {
    const double a = base[la[i]], b = Row3<R>::arity > 1 ? base[lb[i]] : 0.0,
                 c = Row3<R>::arity > 2 ? base[lc[i]] : 0.0;
    const double y = Row3<R>::call(a, b, c);
    outside |= Row3<R>::outside(a, b, y);
    d[result] = y;
  });
  return outside;
}

template <class R>
bool indexed_back(const KernelCall& call) {
  const double *base = in(call, 1), *values = in(call, 3), *g = in(call, 4);
  double* gradients = out(call, 2);
  const int32_t* lists[] = {list(call, 5), list(call, 6), list(call, 7)};
  each_entry(call, [&](int64_t i, int64_t result) {
    const double gradient = g[result];
    if (gradient == 0.0) return;
    double x[3] = {0.0, 0.0, 0.0};
    for (int j = 0; j < Row3<R>::arity; ++j) x[j] = base[lists[j][i]];
    for (int j = 0; j < Row3<R>::arity; ++j) {
      double partial;
      if (!(call.which >> j & 1) || !Row3<R>::partial(j, x[0], x[1], x[2], values[result], &partial)) continue;
      gradients[lists[j][i]] += gradient * partial;
    }
  });
  return false;
}

bool extreme_back(const KernelCall& call) {
  double* d = out(call);
  const double *a = in(call, 1), *y = in(call, 3), *g = in(call, 4);
  KernelCall outer = call;
  outer.n[4] = 1;
  const int count = call.n[4];
  each(outer, [&](const int64_t* o) {
    const double best = y[o[3]], gradient = g[o[3]];
    const bool first = call.row == ROW_FIRST_MAX || call.row == ROW_FIRST_MIN;
    int ties = 0;
    for (int k = 0; k < count; ++k) ties += a[o[1] + int64_t{k} * call.s[1][4]] == best || std::isnan(best);
    for (int k = 0; k < count; ++k) {
      double& target = d[o[0] + int64_t{k} * call.s[0][4]];
      if (!call.accumulate) target = 0.0;
      if (gradient == 0.0) continue;
      const bool tied = a[o[1] + int64_t{k} * call.s[1][4]] == best || std::isnan(best);
      if (!tied) continue;
      target += first ? gradient : gradient / ties;
      if (first) return;
    }
  });
  return false;
}

bool scatter(const KernelCall& call) {
  const double* d = in(call, 0);
  double* base = out(call, 2);
  const int32_t* at = list(call, 5);
  each_entry(call, [&](int64_t i, int64_t result) { base[at[i]] += d[result]; });
  return false;
}

// SELECT with a list of candidate addresses: p[1] and p[2] are the bases of values and gradients, p[6] the list.
template <bool back>
bool select_pooled(const KernelCall& call) {
  const auto *indices = list(call, 5), *addresses = list(call, 6);
  double* d = out(call);
  each(call, [&](const int64_t* o) {
    const int32_t address = addresses[o[1] + indices[o[2]]];
    if constexpr (back) {
      out(call, 2)[address] += d[o[0]];
    } else {
      d[o[0]] = in(call, 1)[address];
    }
  });
  return false;
}

bool fill(const KernelCall& call) {
  double* d = out(call);
  each(call, [&](const int64_t* o) { d[o[0]] = call.k; });
  return false;
}

bool finite(const KernelCall& call) {
  const double* d = in(call, 0);
  return !best_kernels().all_finite(d, call.n[4]);
}

KernelFunction of_row(Kernel kernel, uint16_t row) {
  switch (row) {
#define RG_CASE(name)                                             \
  case ROW_##name:                                                \
    if (kernel == Kernel::MAP) return map<Rule_##name>;           \
    if (kernel == Kernel::MAP_BACK) return map_back<Rule_##name>; \
    if (kernel == Kernel::INDEXED) return indexed<Rule_##name>;   \
    return indexed_back<Rule_##name>;
#define RG_OP1(name, ...) RG_CASE(name)
#define RG_OP2(name, ...) RG_CASE(name)
#define RG_OP3(name, ...) RG_CASE(name)
#include "ops/ops.inc"
    default: return nullptr;
  }
}

const KernelSet& choose() {
  const char* wanted = std::getenv("RETROGRAD_KERNELS");
  [[maybe_unused]] auto allowed = [&](const KernelSet& set) { return !wanted || std::strcmp(wanted, set.name) == 0; };
#ifdef RETROGRAD_X86
  __builtin_cpu_init();
  const bool has512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
  if (has512 && allowed(avx512::kSet)) return avx512::kSet;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && allowed(avx2::kSet)) return avx2::kSet;
#endif
  return portable::kSet;
}

}  // namespace

const KernelSet& best_kernels() {
  static const KernelSet& set = choose();
  return set;
}

KernelFunction find_kernel(const KernelSet& set, Kernel kernel, uint16_t row, uint8_t which) {
  if (KernelFunction run = set.find(kernel, row, which)) return run;
  return find_generic(kernel, row);
}

KernelFunction find_generic(Kernel kernel, uint16_t row) {
  switch (kernel) {
    case Kernel::MAP:
    case Kernel::MAP_BACK:
    case Kernel::INDEXED:
    case Kernel::INDEXED_BACK: return of_row(kernel, row);
    case Kernel::EXTREME_BACK: return extreme_back;
    case Kernel::SCATTER: return scatter;
    case Kernel::FILL: return fill;
    case Kernel::FINITE: return finite;
    default: return nullptr;
  }
}

std::vector<int32_t> ragged_rows(const KernelCall& call) {
  const int32_t n = call.n[4];
  if (!call.p[6] || call.p[7] || n > kMostInRows) return {};
  std::vector<int32_t> begins;
  for (int64_t m = 0; m < call.n[3]; ++m) {
    const int32_t *run = list(call, 5) + m * call.s[1][3], *row = list(call, 6) + m * call.s[1][3];
    std::vector<int32_t> found{0};
    for (int32_t i = 1; i < n; ++i) {
      if (run[i] != run[0] + i) return {};
      if (row[i] != row[i - 1]) found.push_back(i);
      if (row[i] != row[0] + static_cast<int32_t>(found.size()) - 1) return {};
    }
    if (found.size() > kMostRows || (m > 0 && found != begins)) return {};
    begins = std::move(found);
  }
  begins.resize((begins.size() + 7) / 8 * 8 + 1, n);
  return begins;
}

KernelFunction find_pooled_select(bool back) { return back ? select_pooled<true> : select_pooled<false>; }

}  // namespace retrograd::compiler
