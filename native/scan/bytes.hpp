#pragma once
#include <cstdint>
#include <cstring>
#include <limits>

namespace dctx::scan {

constexpr uint64_t kMaxPayload = std::numeric_limits<int32_t>::max();  // bytes of a record

// Serial types 0 to 11: bytes of the value; no record is as long as the reserved ones.
constexpr uint64_t kReserved = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kValueBytes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, kReserved, kReserved};

inline uint16_t load16(const uint8_t* p) {
  uint16_t v;
  std::memcpy(&v, p, 2);
  return __builtin_bswap16(v);
}

inline uint32_t load32(const uint8_t* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return __builtin_bswap32(v);
}

inline uint64_t load64(const uint8_t* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return __builtin_bswap64(v);
}

// Reads an SQLite varint (1 to 9 bytes, big-endian, 7 bits each, 8 in the ninth).
// Returns the byte after it, nullptr when it runs past `end`.
inline const uint8_t* read_varint(const uint8_t* p, const uint8_t* end, uint64_t& value) {
  if (p < end && *p < 0x80) {
    value = *p;
    return p + 1;
  }
  uint64_t v = 0;
  for (int i = 0; i < 8; ++i) {
    if (p >= end) return nullptr;
    const uint8_t byte = *p++;
    v = (v << 7) | (byte & 0x7F);
    if (byte < 0x80) {
      value = v;
      return p;
    }
  }
  if (p >= end) return nullptr;
  value = (v << 8) | *p;
  return p + 1;
}

}  // namespace dctx::scan
