#include "compiler/passes/accesses.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace retrograd::compiler {

bool same_offsets(const OperandAccess& access) {
  for (size_t m = 0; m < access.lanes(); ++m) {
    for (size_t k = 1; k < access.width; ++k) {
      if (access.at(m, k).region != access.at(m).region ||
          access.at(m, k).address - access.at(m).address != access.at(0, k).address - access.at(0).address) {
        return false;
      }
    }
  }
  return true;
}

std::vector<LoopNest> inner_loops(std::span<const OperandAccess> accesses) {
  AddressTable rows;
  rows.width = static_cast<int>(accesses.size());
  for (size_t k = 0; k < accesses[0].width; ++k) {
    for (const OperandAccess& access : accesses) rows.numbers.push_back(access.at(0, k).address - access.at(0).address);
  }
  return find_nests(rows, 3);
}

size_t distinct_bases(const OperandAccess& access) {
  std::unordered_set<Address> bases;
  for (size_t m = 0; m < access.lanes(); ++m) bases.insert(access.at(m).address);
  return bases.size();
}

void reorder_sum(std::span<OperandAccess> accesses) {
  OperandAccess* dearest = &accesses[0];
  size_t most = 0;
  for (OperandAccess& access : accesses) {
    const size_t rows = distinct_bases(access);
    if (rows <= most) continue;
    most = rows;
    dearest = &access;
  }
  if (!same_offsets(*dearest) || inner_loops({dearest, 1}).size() == 1) return;
  std::vector<size_t> order(dearest->width);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t i, size_t j) { return dearest->at(0, i).address < dearest->at(0, j).address; });
  for (OperandAccess& access : accesses) {
    OperandAccess sorted{access.width, {}};
    for (size_t m = 0; m < accesses[0].lanes(); ++m) {
      for (const size_t k : order) sorted.locations.push_back(access.at(m, k));
    }
    access = std::move(sorted);
  }
}

std::vector<size_t> split_by_region(std::span<const OperandAccess> accesses) {
  constexpr size_t kParts = 3, kWorthIt = 512;
  const size_t width = accesses[0].width;
  const auto dear = [&](const OperandAccess& access) {
    bool one_region = true;
    for (size_t k = 1; k < width; ++k) one_region &= access.at(0, k).region == access.at(0).region;
    return !one_region && 4 * distinct_bases(access) > accesses[0].lanes();
  };
  if (width < 2 || accesses[0].lanes() * width < kWorthIt || std::none_of(accesses.begin(), accesses.end(), dear))
    return {};
  std::vector<std::vector<uint32_t>> parts;
  std::vector<size_t> part(width);
  for (size_t k = 0; k < width; ++k) {
    std::vector<uint32_t> regions;
    for (const OperandAccess& access : accesses) regions.push_back(access.at(0, k).region);
    for (size_t m = 1; m < accesses[0].lanes(); ++m) {
      for (size_t i = 0; i < accesses.size(); ++i) {
        if (accesses[i].at(m, k).region != regions[i]) return {};
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

OperandAccess part_of_access(const OperandAccess& access, const std::vector<size_t>& part, size_t p) {
  OperandAccess some{static_cast<size_t>(std::count(part.begin(), part.end(), p)), {}};
  for (size_t i = 0; i < access.locations.size(); ++i) {
    if (part[i % access.width] == p) some.locations.push_back(access.locations[i]);
  }
  return some;
}

}  // namespace retrograd::compiler
