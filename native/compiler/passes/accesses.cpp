#include "compiler/passes/accesses.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace retrograd::compiler {

bool one_pattern(const Side& side) {
  for (size_t m = 0; m < side.members(); ++m) {
    for (size_t k = 1; k < side.width; ++k) {
      if (side.at(m, k).region != side.at(m).region ||
          side.at(m, k).address - side.at(m).address != side.at(0, k).address - side.at(0).address) {
        return false;
      }
    }
  }
  return true;
}

std::vector<Nest> pattern_of(std::span<const Side> sides) {
  Rows rows;
  rows.width = static_cast<int>(sides.size());
  for (size_t k = 0; k < sides[0].width; ++k) {
    for (const Side& side : sides) rows.numbers.push_back(side.at(0, k).address - side.at(0).address);
  }
  return find_nests(rows, 3);
}

size_t distinct(const Side& side) {
  std::unordered_set<Address> bases;
  for (size_t m = 0; m < side.members(); ++m) bases.insert(side.at(m).address);
  return bases.size();
}

void reorder_sum(std::span<Side> sides) {
  Side* dearest = &sides[0];
  size_t most = 0;
  for (Side& side : sides) {
    const size_t rows = distinct(side);
    if (rows <= most) continue;
    most = rows;
    dearest = &side;
  }
  if (!one_pattern(*dearest) || pattern_of({dearest, 1}).size() == 1) return;
  std::vector<size_t> order(dearest->width);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t i, size_t j) { return dearest->at(0, i).address < dearest->at(0, j).address; });
  for (Side& side : sides) {
    Side sorted{side.width, {}};
    for (size_t m = 0; m < sides[0].members(); ++m) {
      for (const size_t k : order) sorted.places.push_back(side.at(m, k));
    }
    side = std::move(sorted);
  }
}

std::vector<size_t> parts_of(std::span<const Side> sides) {
  constexpr size_t kParts = 3, kWorthIt = 512;
  const size_t width = sides[0].width;
  const auto dear = [&](const Side& side) {
    bool one_region = true;
    for (size_t k = 1; k < width; ++k) one_region &= side.at(0, k).region == side.at(0).region;
    return !one_region && 4 * distinct(side) > sides[0].members();
  };
  if (width < 2 || sides[0].members() * width < kWorthIt || std::none_of(sides.begin(), sides.end(), dear)) return {};
  std::vector<std::vector<uint32_t>> parts;
  std::vector<size_t> part(width);
  for (size_t k = 0; k < width; ++k) {
    std::vector<uint32_t> regions;
    for (const Side& side : sides) regions.push_back(side.at(0, k).region);
    for (size_t m = 1; m < sides[0].members(); ++m) {
      for (size_t i = 0; i < sides.size(); ++i) {
        if (sides[i].at(m, k).region != regions[i]) return {};
      }
    }
    part[k] = static_cast<size_t>(std::find(parts.begin(), parts.end(), regions) - parts.begin());
    if (part[k] == parts.size()) parts.push_back(std::move(regions));
    if (parts.size() > kParts) return {};
  }
  if (parts.size() == 1) return {};
  return part;
}

Repeats repeats_of(std::span<const double> numbers) {
  constexpr size_t kWide = 4096;
  const size_t n = numbers.size();
  const auto starts_again = [&](size_t width) {
    size_t k = 0;
    while (k < width && width + k < n && same_bits(numbers[k], numbers[width + k])) ++k;
    return k == width;
  };
  size_t width = 1;
  while (width <= kWide && width < n && !starts_again(width)) ++width;
  if (width > kWide || width >= n) return {};
  size_t block = width;
  while (block < n && same_bits(numbers[block], numbers[block - width])) ++block;
  block = block / width * width;
  if (n % block != 0) return {};
  for (size_t k = 0; k < n; ++k) {
    if (k % block >= width && !same_bits(numbers[k], numbers[k - width])) return {};
  }
  return {width, block};
}

Side part_of_side(const Side& side, const std::vector<size_t>& part, size_t p) {
  Side some{static_cast<size_t>(std::count(part.begin(), part.end(), p)), {}};
  for (size_t i = 0; i < side.places.size(); ++i) {
    if (part[i % side.width] == p) some.places.push_back(side.places[i]);
  }
  return some;
}

}  // namespace retrograd::compiler
