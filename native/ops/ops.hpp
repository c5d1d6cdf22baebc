// The op table as C++: one Rule for each row, read from ops.inc, which tools/generate.py writes from
// src/retrograd/ops/table.py.
#pragma once

#include <cmath>
#include <cstdint>

#include "ops/special.hpp"

namespace retrograd {

// Row numbers. A node's code is its row times four plus its form.
enum Row : uint16_t {
  ROW_NONE,
#define RG_OP1(name, ...) ROW_##name,
#define RG_OP2(name, ...) ROW_##name,
#define RG_OP3(name, ...) ROW_##name,
#define RG_NARY(name, ...) ROW_##name,
#include "ops/ops.inc"
  ROW_COUNT
};

enum Form : uint16_t {
  VALUES = 0,        // every operand is a Value
  NUMBER_RIGHT = 1,  // the second of two operands is a number kept in the node
  NUMBER_LEFT = 2,   // the first of two operands is
};

constexpr uint16_t code_of(Row row, Form form = VALUES) { return static_cast<uint16_t>(row * 4 + form); }

// Codes below the first row.
constexpr uint16_t LEAF = 0;  // no operands
constexpr uint16_t USER = 1;  // made by Value(data, children, …)
constexpr uint16_t SLOT = 2;  // holds a USER node's position in the order of creation
constexpr bool is_op(uint16_t code) { return code >= 4; }

enum NaryKind { PLAIN, PAIRED, SOFTMAX };

// Each row's forward function under the name that formulas call it by.
#define RG_OP1(name, ...) inline double f_##name(double a);
#define RG_OP2(name, ...) inline double f_##name(double a, double b);
#define RG_OP3(name, ...) inline double f_##name(double a, double b, double c);
#include "ops/ops.inc"

// `domain` is zero, or 1 + 4 * index + kind of the row's Domain that the operands violate. `partly`: in places no
// gradient is handed on, not even an infinite one.
#define RG_OP1(name, label, forward, g1, d1, rule)                                           \
  inline double f_##name([[maybe_unused]] double a) { return forward; }                      \
  struct Rule_##name {                                                                       \
    static constexpr Row row = ROW_##name;                                                   \
    static constexpr bool partly = #g1[0] != 't';                                            \
    static double call(double a) { return f_##name(a); }                                     \
    static int domain([[maybe_unused]] double a, [[maybe_unused]] double y) { return rule; } \
  };
#define RG_OP2(name, label, forward, g1, d1, g2, d2, rule)                                               \
  inline double f_##name([[maybe_unused]] double a, [[maybe_unused]] double b) { return forward; }       \
  struct Rule_##name {                                                                                   \
    static constexpr Row row = ROW_##name;                                                               \
    static constexpr bool partly = #g1[0] != 't' || #g2[0] != 't';                                       \
    static double call(double a, double b) { return f_##name(a, b); }                                    \
    static int domain([[maybe_unused]] double a, [[maybe_unused]] double b, [[maybe_unused]] double y) { \
      return rule;                                                                                       \
    }                                                                                                    \
  };
#define RG_OP3(name, label, forward, g1, d1, g2, d2, g3, d3, rule)                  \
  inline double f_##name(double a, double b, double c) { return forward; }          \
  struct Rule_##name {                                                              \
    static constexpr Row row = ROW_##name;                                          \
    static constexpr bool partly = #g1[0] != 't' || #g2[0] != 't' || #g3[0] != 't'; \
    static double call(double a, double b, double c) { return f_##name(a, b, c); }  \
  };
// A fold from left to right; m is the largest operand.
#define RG_NARY(name, kind, allows_empty, init, step_, finish_, g1, d1, g2, d2)                                       \
  struct Rule_##name {                                                                                                \
    static constexpr Row row = ROW_##name;                                                                            \
    static constexpr NaryKind nary_kind = kind;                                                                       \
    static constexpr bool empty = allows_empty;                                                                       \
    static double start() { return init; }                                                                            \
    static double step(double s, double a, [[maybe_unused]] double b, [[maybe_unused]] double m) { return step_; }    \
    static double finish(double s, [[maybe_unused]] double a, [[maybe_unused]] double m, [[maybe_unused]] double n) { \
      return finish_;                                                                                                 \
    }                                                                                                                 \
  };
#include "ops/ops.inc"

// Name, label and arity of each op, indexed by Row.
struct RowText {
  const char* name;
  const char* label;
  int arity;  // 0 for n-ary ops
};

inline constexpr RowText kRows[] = {
    {"", "", 0},
#define RG_OP1(name, label, ...) {#name, label, 1},
#define RG_OP2(name, label, ...) {#name, label, 2},
#define RG_OP3(name, label, ...) {#name, label, 3},
#define RG_NARY(name, ...) {#name, #name, 0},
#include "ops/ops.inc"
};

inline constexpr const char* kDigest =
#define RG_DIGEST(text) text
#include "ops/ops.inc"
    ;

}  // namespace retrograd
