#include "compiler/run/guard_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace retrograd::compiler {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// a <= b, or a < b if it is strict; a and b are numbers of roots.
struct Order {
  uint32_t below, above;
  bool strict;
};

// Between which plain numbers a root is.
struct Interval {
  double low = -kInfinity, high = kInfinity;
  bool has_low = false, has_high = false, above_low = false, below_high = false;

  void raise(double number, bool strict) {
    if (has_low && (number < low || (number == low && !strict))) return;
    low = number, above_low = strict, has_low = true;
  }
  void lower(double number, bool strict) {
    if (has_high && (number > high || (number == high && !strict))) return;
    high = number, below_high = strict, has_high = true;
  }
  // Excludes a number that lies outside, or is an end, which does not belong to it then. False if the number lies
  // inside: it needs a check of its own.
  bool leave_out(double number) {
    if ((has_low && number < low) || (has_high && number > high)) return true;
    const bool is_low = has_low && number == low, is_high = has_high && number == high;
    above_low |= is_low;
    below_high |= is_high;
    return is_low || is_high;
  }
};

// What guards say of roots, each relation once.
class Relations {
 public:
  explicit Relations(std::span<const Guard> guards) {
    for (const Guard& guard : guards) add(guard);
    for (const auto& [a, b] : different_) {
      if (!makes_strict(a, b) && !makes_strict(b, a)) unequal.emplace_back(a, b);
    }
    for (const auto& [root, number] : different_numbers_) {
      if (!within(root).leave_out(number)) unequal_numbers.emplace_back(root, number);
    }
  }

  std::vector<Order> orders;
  std::vector<std::pair<uint32_t, Interval>> intervals;
  std::vector<std::pair<uint32_t, uint32_t>> equal, unequal;
  std::vector<std::pair<uint32_t, double>> equal_numbers, unequal_numbers;
  bool with_nan = false;  // a guard compares with a plain NaN, which says nothing

 private:
  void add(const Guard& guard) {
    const bool yes = guard.outcome;
    switch (guard.test) {
      case Guard::LESS: return yes ? below(guard, true) : above(guard, false);
      case Guard::LESS_EQUAL: return yes ? below(guard, false) : above(guard, true);
      case Guard::GREATER: return yes ? above(guard, true) : below(guard, false);
      case Guard::GREATER_EQUAL: return yes ? above(guard, false) : below(guard, true);
      default: return same(guard, (guard.test == Guard::EQUAL) == yes);
    }
  }

  Interval& within(uint32_t root) {
    const auto [place, is_new] = numbers_.try_emplace(root, intervals.size());
    if (is_new) intervals.emplace_back(root, Interval());
    return intervals[place->second].second;
  }

  void below(const Guard& guard, bool strict) {
    if (guard.right) return order(guard.left, guard.right, strict);
    with_nan |= std::isnan(guard.number);
    within(guard.left).lower(guard.number, strict);
  }

  void above(const Guard& guard, bool strict) {
    if (guard.right) return order(guard.right, guard.left, strict);
    with_nan |= std::isnan(guard.number);
    within(guard.left).raise(guard.number, strict);
  }

  void order(uint32_t a, uint32_t b, bool strict) {
    const auto [place, is_new] = places_.try_emplace(key_of(a, b), orders.size());
    if (is_new) {
      orders.push_back({a, b, strict});
    } else {
      orders[place->second].strict |= strict;
    }
  }

  void same(const Guard& guard, bool are_equal) {
    if (guard.right) {
      (are_equal ? equal : different_).emplace_back(guard.left, guard.right);
    } else {
      (are_equal ? equal_numbers : different_numbers_).emplace_back(guard.left, guard.number);
    }
  }

  // Of two roots that are in order, and are not equal.
  bool makes_strict(uint32_t a, uint32_t b) {
    const auto place = places_.find(key_of(a, b));
    if (place == places_.end()) return false;
    orders[place->second].strict = true;
    return true;
  }

  static uint64_t key_of(uint32_t a, uint32_t b) { return uint64_t{a} << 32 | b; }

  std::unordered_map<uint64_t, size_t> places_;   // in `orders`, by both roots
  std::unordered_map<uint32_t, size_t> numbers_;  // in `intervals`, by the root
  std::vector<std::pair<uint32_t, uint32_t>> different_;
  std::vector<std::pair<uint32_t, double>> different_numbers_;
};

// The orders that do not follow from others (Aho, Garey and Ullman, "The Transitive Reduction of a Directed Graph",
// 1972), as far as few steps show.
class Reduction {
 public:
  explicit Reduction(std::vector<Order> orders) : orders_(std::move(orders)), left_(orders_.size(), true) {
    uint32_t roots = 0;
    for (const Order& one : orders_) roots = std::max({roots, one.below + 1, one.above + 1});
    outgoing_.resize(roots);
    reached_.resize(size_t{2} * roots);
    for (uint32_t i = 0; i < orders_.size(); ++i) outgoing_[orders_[i].below].push_back(i);
  }

  std::vector<Order> run() {
    std::vector<Order> found;
    for (uint32_t i = 0; i < orders_.size(); ++i) {
      left_[i] = false;
      left_[i] = !follows(orders_[i], i + 1);
    }
    for (uint32_t i = 0; i < orders_.size(); ++i) {
      if (left_[i]) found.push_back(orders_[i]);
    }
    return found;
  }

 private:
  struct Step {
    uint32_t root;
    bool strict;
  };

  // Whether orders that are left lead from the lower root to the higher one. `search`: a number that no search had,
  // from 1 on.
  bool follows(const Order& wanted, uint32_t search) {
    constexpr size_t most = 64;  // orders that are looked at
    size_t looked = 0;
    steps_.assign(1, {wanted.below, false});
    for (size_t at = 0; at < steps_.size(); ++at) {
      const Step from = steps_[at];
      for (const uint32_t i : outgoing_[from.root]) {
        if (!left_[i]) continue;
        if (++looked > most) return false;
        const Step next{orders_[i].above, from.strict || orders_[i].strict};
        if (next.root == wanted.above && (next.strict || !wanted.strict)) return true;
        uint32_t& known = reached_[size_t{2} * next.root + next.strict];
        if (known == search) continue;
        known = search;
        steps_.push_back(next);
      }
    }
    return false;
  }

  std::vector<Order> orders_;
  std::vector<bool> left_;
  std::vector<std::vector<uint32_t>> outgoing_;  // by roots
  std::vector<uint32_t> reached_;                // by roots, and strictly or not: in which search last
  std::vector<Step> steps_;
};

template <class Item, class Compare>
bool any_broken(const std::vector<Item>& items, Compare holds) {
  bool broken = false;
  for (const Item& item : items) broken |= !holds(item);
  return broken;
}

}  // namespace

GuardChecks::GuardChecks(std::span<const Guard> guards, const std::function<const double*(uint32_t)>& place) {
  Relations relations(guards);
  compares_with_nan_ = relations.with_nan;
  for (const Order& one : Reduction(std::move(relations.orders)).run()) {
    (one.strict ? below_ : at_most_).push_back({place(one.below), place(one.above)});
  }
  for (const auto& [a, b] : relations.equal) equal_.push_back({place(a), place(b)});
  for (const auto& [a, b] : relations.unequal) unequal_.push_back({place(a), place(b)});
  for (const auto& [root, within] : relations.intervals) {
    if (within.has_low) (within.above_low ? above_numbers_ : at_least_numbers_).push_back({place(root), within.low});
    if (within.has_high) (within.below_high ? below_numbers_ : at_most_numbers_).push_back({place(root), within.high});
  }
  for (const auto& [root, number] : relations.equal_numbers) equal_numbers_.push_back({place(root), number});
  for (const auto& [root, number] : relations.unequal_numbers) unequal_numbers_.push_back({place(root), number});
}

bool GuardChecks::all_hold() const {
  const auto pairs = [](auto compare) { return [=](const Pair& one) { return compare(*one.left, *one.right); }; };
  const auto bounds = [](auto compare) { return [=](const Bound& one) { return compare(*one.root, one.number); }; };
  return !compares_with_nan_ && !any_broken(below_, pairs(std::less<>())) &&
         !any_broken(at_most_, pairs(std::less_equal<>())) && !any_broken(equal_, pairs(std::equal_to<>())) &&
         !any_broken(unequal_, pairs(std::not_equal_to<>())) && !any_broken(below_numbers_, bounds(std::less<>())) &&
         !any_broken(at_most_numbers_, bounds(std::less_equal<>())) &&
         !any_broken(above_numbers_, bounds(std::greater<>())) &&
         !any_broken(at_least_numbers_, bounds(std::greater_equal<>())) &&
         !any_broken(equal_numbers_, bounds(std::equal_to<>())) &&
         !any_broken(unequal_numbers_, bounds(std::not_equal_to<>()));
}

}  // namespace retrograd::compiler
