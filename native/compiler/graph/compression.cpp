#include "compiler/graph/compression.hpp"

#include <algorithm>
#include <cstring>

namespace retrograd::compiler {
namespace {

// A repetition is at least so long: a shorter one takes as much memory to name.
constexpr size_t kShortest = 8;
constexpr int kHashBits = 15;

uint64_t eight_at(const uint8_t* at) {
  uint64_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}

size_t common_length(const uint8_t* a, const uint8_t* b, const uint8_t* end) {
  const uint8_t* begin = b;
  while (end - b >= 8 && eight_at(a) == eight_at(b)) a += 8, b += 8;
  while (b < end && *a == *b) ++a, ++b;
  return static_cast<size_t>(b - begin);
}

void put_bytes(std::vector<uint8_t>& packed, const uint8_t* from, const uint8_t* to) {
  put_number(packed, static_cast<uint64_t>(to - from));
  packed.insert(packed.end(), from, to);
}

}  // namespace

// The length; then, in turns, bytes as they are, and a repetition: its length and how far back it is.
std::vector<uint8_t> compressed(const std::vector<uint8_t>& bytes) {
  std::vector<uint8_t> packed;
  put_number(packed, bytes.size());
  std::vector<size_t> seen(size_t{1} << kHashBits);  // one more than where such eight bytes were last
  const uint8_t *begin = bytes.data(), *end = begin + bytes.size(), *fresh = begin;
  for (const uint8_t* at = begin; end - at >= static_cast<std::ptrdiff_t>(kShortest);) {
    size_t& place = seen[(eight_at(at) * 0x9e3779b97f4a7c15) >> (64 - kHashBits)];
    const uint8_t* before = begin + place - 1;
    const bool repeats = place && eight_at(before) == eight_at(at);
    place = static_cast<size_t>(at - begin) + 1;
    if (!repeats) {
      at += 1 + ((at - fresh) >> 6);  // where nothing repeats itself, fewer places are tried
      continue;
    }
    put_bytes(packed, fresh, at);
    const size_t length = common_length(before, at, end);
    put_number(packed, length);
    put_number(packed, static_cast<uint64_t>(at - before));
    fresh = at += length;
  }
  put_bytes(packed, fresh, end);
  packed.shrink_to_fit();
  return packed;
}

std::vector<uint8_t> decompressed(const std::vector<uint8_t>& packed) {
  const uint8_t* at = packed.data();
  std::vector<uint8_t> bytes(take_number(at));
  for (size_t done = 0;;) {
    const size_t fresh = take_number(at);
    std::copy_n(at, fresh, bytes.data() + done);
    at += fresh;
    done += fresh;
    if (done == bytes.size()) return bytes;
    const size_t length = take_number(at), back = take_number(at);
    for (size_t i = 0; i < length; ++i) bytes[done + i] = bytes[done + i - back];  // it may overlap itself
    done += length;
  }
}

}  // namespace retrograd::compiler
