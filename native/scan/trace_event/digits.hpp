#pragma once
// Decimal digits eight at a time. Eight bytes from the text on must be readable, and eight more
// when all of them are digits.
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dctx::trace_event {

constexpr size_t kMostDigits = 16;

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

namespace detail {

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
// The digits that a word begins with, and their value.
inline size_t leading_digits(const char* p, uint64_t& value) {
  constexpr uint64_t kEach = 0x0101010101010101;
  uint64_t word;
  std::memcpy(&word, p, 8);
  word ^= kEach * '0';
  // Above a byte that is no digit carries may make others look like none.
  const uint64_t others = ((word + kEach * 0x76) | word) & kEach * 0x80;
  const size_t count = others == 0 ? 8 : static_cast<size_t>(__builtin_ctzll(others)) / 8;
  if (count == 0) return 0;
  word <<= 8 * (8 - count);
  word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FF;
  word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFF;
  value = (word * 10'000 + (word >> 32)) & 0xFFFFFFFF;
  return count;
}
#else
inline size_t leading_digits(const char* p, uint64_t& value) {
  size_t count = 0;
  value = 0;
  while (count < 8 && is_digit(p[count]))
    value = value * 10 + static_cast<uint64_t>(p[count++] - '0');
  return count;
}
#endif

}  // namespace detail

// How many digits p begins with, up to one more than kMostDigits; the value when they are fewer.
inline size_t read_digits(const char* p, uint64_t& value) {
  static constexpr uint64_t kPowers[] = {1,       10,        100,        1'000,      10'000,
                                         100'000, 1'000'000, 10'000'000, 100'000'000};
  const size_t first = detail::leading_digits(p, value);
  if (first < 8) return first;
  uint64_t rest = 0;
  const size_t more = detail::leading_digits(p + 8, rest);
  value = value * kPowers[more] + rest;
  return more == 8 && is_digit(p[kMostDigits]) ? kMostDigits + 1 : 8 + more;
}

}  // namespace dctx::trace_event
