#pragma once
// Decimal text to numbers: times exactly, never through a double.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dctx::trace_event {

// What a text says as a number.
enum class NumberKind : uint8_t {
  None,       // it is no number
  Fine,       // it is, and fits
  Wide,       // an integer beyond int64 whose 64 bits are kept
  TooWide,    // an integer beyond 64 bits
  NonFinite,  // inf, nan, N/A …
};

// An integer: decimal with an optional sign, a float of integral value, or hexadecimal with 0x.
NumberKind parse_integer(std::string_view text, int64_t& value);

// A float, the nearest double. Hexadecimal integers too.
NumberKind parse_real(std::string_view text, double& value);

// A time in µs, as ns and the part of a ns that is left: sign * (ns + part / kPart).
struct Micros {
  static constexpr int64_t kPart = 1'000'000'000'000'000;
  int64_t ns = 0;
  int64_t part = 0;
  bool negative = false;
  uint8_t fraction = 0;  // of a µs: 0 none, 1 a multiple of 0.25, 2 finer

  // Nearest ns, halves away from zero (what rounding the text's fourth digit gives).
  int64_t rounded() const {
    const int64_t up = ns + (part >= kPart / 2 ? 1 : 0);
    return negative ? -up : up;
  }
};

enum class TimeKind : uint8_t { None, Fine, Overflow, NonFinite };

// Forms: 12, 12.3, 9.9e-07, -1.5, +1, .5, blanks around. Beyond ±9.2e15 µs: Overflow.
TimeKind parse_micros(std::string_view text, Micros& value);

// round(start + length) - round(start); the sum is exact.
int64_t rounded_length(const Micros& start, const Micros& length);

}  // namespace dctx::trace_event
