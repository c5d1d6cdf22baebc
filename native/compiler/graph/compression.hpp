// Bytes that repeat themselves, in less memory: what was there before is named by how far back it is, and how long
// (Ziv & Lempel, 1977). Graphs are compressed on threads that do not have the GIL, where Python's zlib is not at hand.
#pragma once

#include <cstdint>
#include <vector>

namespace retrograd::compiler {

// Appends a number in as many bytes as it needs: seven bits in each, the last of them below 128 (LEB128).
inline void put_number(std::vector<uint8_t>& bytes, uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<uint8_t>(number | 0x80));
  bytes.push_back(static_cast<uint8_t>(number));
}

// Reads one, and moves on.
inline uint64_t take_number(const uint8_t*& at) {
  uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const uint8_t byte = *at++;
    number |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return number;
  }
}

std::vector<uint8_t> compressed(const std::vector<uint8_t>& bytes);
std::vector<uint8_t> decompressed(const std::vector<uint8_t>& packed);

}  // namespace retrograd::compiler
