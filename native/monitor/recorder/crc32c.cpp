#include "monitor/recorder/crc32c.hpp"

#include <array>

namespace dctx::monitor {
namespace {

constexpr size_t kLanes = 8;
using Tables = std::array<std::array<uint32_t, 256>, kLanes>;

// Table 0 takes one byte; table n takes a byte that n more bytes follow, so that eight bytes need
// eight look-ups that do not wait for each other.
constexpr Tables make_tables() {
  constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? kPolynomial : 0);
    tables[0][byte] = value;
  }
  for (size_t lane = 1; lane < kLanes; ++lane) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[lane - 1][byte];
      tables[lane][byte] = before >> 8 ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

uint32_t crc32c(const void* data, size_t size, uint32_t before) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  uint32_t value = ~before;
  for (; size >= kLanes; size -= kLanes, bytes += kLanes) {
    const uint32_t first = value ^ (uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 |
                                    uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24);
    value = kTables[7][first & 0xff] ^ kTables[6][first >> 8 & 0xff] ^
            kTables[5][first >> 16 & 0xff] ^ kTables[4][first >> 24] ^ kTables[3][bytes[4]] ^
            kTables[2][bytes[5]] ^ kTables[1][bytes[6]] ^ kTables[0][bytes[7]];
  }
  for (; size > 0; --size, ++bytes) value = value >> 8 ^ kTables[0][(value ^ *bytes) & 0xff];
  return ~value;
}

}  // namespace dctx::monitor
