#include "scan/trace_event/decimal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/decimal_text.hpp"
#include "scan/trace_event/digits.hpp"

namespace dctx::trace_event {
namespace {

constexpr int64_t kMaxMicros = 9'200'000'000'000'000;
constexpr int kFractionDigits = 18;  // of a µs: three to the ns, fifteen of its part

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_non_finite(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  for (const std::string_view word :
       {"inf", "nan", "NaN", "Infinity", "N/A", "Inf", "NAN", "INF"}) {
    if (text == word) return true;
  }
  return false;
}

// The parts of a decimal number.
struct Decimal {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  int exponent = 0;
};

bool split(std::string_view text, Decimal& out) {
  size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) out.negative = text[i++] == '-';
  const size_t whole = i;
  while (i < text.size() && is_digit(text[i])) ++i;
  out.whole = text.substr(whole, i - whole);
  if (i < text.size() && text[i] == '.') {
    const size_t fraction = ++i;
    while (i < text.size() && is_digit(text[i])) ++i;
    out.fraction = text.substr(fraction, i - fraction);
  }
  if (out.whole.empty() && out.fraction.empty()) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    const bool down = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (i == text.size() || !is_digit(text[i])) return false;
    int exponent = 0;
    for (; i < text.size() && is_digit(text[i]); ++i) {
      exponent = std::min(exponent * 10 + (text[i] - '0'), 1'000'000);
    }
    out.exponent = down ? -exponent : exponent;
  }
  return i == text.size();
}

// Digit number i of whole and fraction written together; '0' outside.
struct Digits {
  const Decimal& number;
  size_t size() const { return number.whole.size() + number.fraction.size(); }
  char operator[](int64_t i) const {
    if (i < 0 || i >= static_cast<int64_t>(size())) return '0';
    const auto at = static_cast<size_t>(i);
    return at < number.whole.size() ? number.whole[at] : number.fraction[at - number.whole.size()];
  }
};

NumberKind parse_hex(std::string_view text, int64_t& value) {
  uint64_t bits = 0;
  size_t digits = 0;
  for (const char c : text) {
    const char lower = static_cast<char>(c | 0x20);
    unsigned digit;
    if (is_digit(c)) {
      digit = static_cast<unsigned>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      digit = static_cast<unsigned>(lower - 'a') + 10;
    } else {
      return NumberKind::None;
    }
    if (bits != 0 || digit != 0) ++digits;
    if (digits > 16) return NumberKind::TooWide;
    bits = bits << 4 | digit;
  }
  value = static_cast<int64_t>(bits);
  return NumberKind::Fine;
}

bool starts_hex(std::string_view text) {
  return text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

NumberKind integer_of(const Decimal& number, int64_t& value) {
  const Digits digits{number};
  const int64_t point = static_cast<int64_t>(number.whole.size()) + number.exponent;
  const auto count = static_cast<int64_t>(digits.size());
  int64_t first = 0;
  while (first < count && digits[first] == '0') ++first;
  if (first == count) {
    value = 0;
    return NumberKind::Fine;
  }
  for (int64_t i = std::max<int64_t>(point, first); i < count; ++i) {
    if (digits[i] != '0') return NumberKind::None;  // not integral
  }
  if (point - first > 20) return NumberKind::TooWide;
  unsigned __int128 wide = 0;
  for (int64_t i = first; i < point; ++i) {
    wide = wide * 10 + static_cast<unsigned>(digits[i] - '0');
  }
  constexpr auto kMax = static_cast<unsigned __int128>(std::numeric_limits<int64_t>::max());
  if (number.negative) {
    if (wide > kMax + 1) return NumberKind::TooWide;
    value = static_cast<int64_t>(0 - static_cast<uint64_t>(wide));
    return NumberKind::Fine;
  }
  if (wide > std::numeric_limits<uint64_t>::max()) return NumberKind::TooWide;
  value = static_cast<int64_t>(static_cast<uint64_t>(wide));
  return wide > kMax ? NumberKind::Wide : NumberKind::Fine;
}

double power_of_ten(int exponent) {
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  return kPowers[exponent];
}

double slow_real(std::string_view text) {
  double value = 0;
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  read_decimal(text, value);
  return value;
}

__int128 scaled(const Micros& value) {
  const __int128 magnitude = static_cast<__int128>(value.ns) * Micros::kPart + value.part;
  return value.negative ? -magnitude : magnitude;
}

int64_t round_scaled(__int128 value) {
  const __int128 half = Micros::kPart / 2;
  return static_cast<int64_t>(value < 0 ? -((-value + half) / Micros::kPart)
                                        : (value + half) / Micros::kPart);
}

TimeKind micros_of(const Decimal& number, Micros& out) {
  const Digits digits{number};
  const int64_t point = static_cast<int64_t>(number.whole.size()) + number.exponent;
  const auto count = static_cast<int64_t>(digits.size());
  int64_t first = 0;
  while (first < count && digits[first] == '0') ++first;
  out = Micros();
  out.negative = number.negative;
  if (first == count) return TimeKind::Fine;
  if (point - first > 16) return TimeKind::Overflow;
  int64_t micros = 0;
  for (int64_t i = first; i < point; ++i) micros = micros * 10 + (digits[i] - '0');
  if (micros > kMaxMicros) return TimeKind::Overflow;
  int64_t fraction[2] = {0, 0};  // three digits of ns, fifteen of its part
  for (int i = 0; i < kFractionDigits; ++i) {
    int64_t& group = fraction[i < 3 ? 0 : 1];
    group = group * 10 + (digits[point + i] - '0');
  }
  out.ns = micros * 1000 + fraction[0];
  out.part = fraction[1];
  if (fraction[0] != 0 || fraction[1] != 0) {
    out.fraction = fraction[1] == 0 && fraction[0] % 250 == 0 ? 1 : 2;
  }
  return TimeKind::Fine;
}

}  // namespace

NumberKind parse_integer(std::string_view text, int64_t& value) {
  text = trim(text);
  if (starts_hex(text)) return parse_hex(text.substr(2), value);
  Decimal number;
  if (split(text, number)) return integer_of(number, value);
  return is_non_finite(text) ? NumberKind::NonFinite : NumberKind::None;
}

NumberKind parse_real(std::string_view text, double& value) {
  text = trim(text);
  if (starts_hex(text)) {
    int64_t bits = 0;
    const NumberKind kind = parse_hex(text.substr(2), bits);
    value = static_cast<double>(static_cast<uint64_t>(bits));
    return kind;
  }
  Decimal number;
  if (!split(text, number)) {
    return is_non_finite(text) ? NumberKind::NonFinite : NumberKind::None;
  }
  const Digits digits{number};
  const int scale =
      number.exponent - static_cast<int>(std::min<size_t>(number.fraction.size(), 999));
  if (digits.size() <= 18 && scale >= -22 && scale <= 22) {
    int64_t mantissa = 0;
    for (size_t i = 0; i < digits.size(); ++i) {
      mantissa = mantissa * 10 + (digits[static_cast<int64_t>(i)] - '0');
    }
    if (mantissa <= int64_t{1} << 53) {  // both factors are exact, so the result is rounded once
      const auto exact = static_cast<double>(mantissa);
      value = scale < 0 ? exact / power_of_ten(-scale) : exact * power_of_ten(scale);
      if (number.negative) value = -value;
      return NumberKind::Fine;
    }
  }
  value = slow_real(text);
  return std::isfinite(value) ? NumberKind::Fine : NumberKind::NonFinite;
}

TimeKind parse_micros(std::string_view text, Micros& value) {
  // Nearly all are digits, a point and up to three digits.
  const char* p = text.data();
  const char* const end = p + text.size();
  uint64_t whole = 0;  // may wrap: then there are too many digits
  while (p < end && is_digit(*p)) whole = whole * 10 + static_cast<uint64_t>(*p++ - '0');
  const auto digits = p - text.data();
  if (digits > 0 && digits <= 15) {
    int64_t fraction = 0;
    if (p < end && *p == '.') {
      static constexpr int64_t kUnit[] = {1000, 100, 10, 1};
      const char* const first = ++p;
      while (p < end && is_digit(*p) && p - first < 3) fraction = fraction * 10 + (*p++ - '0');
      fraction *= kUnit[p - first];
      if (p == first) --p;  // a point without digits
    }
    if (p == end) {
      value.ns = static_cast<int64_t>(whole) * 1000 + fraction;
      value.part = 0;
      value.negative = false;
      value.fraction = fraction == 0 ? 0 : fraction % 250 == 0 ? 1 : 2;
      return TimeKind::Fine;
    }
  }
  text = trim(text);
  Decimal number;
  if (split(text, number)) return micros_of(number, value);
  return is_non_finite(text) ? TimeKind::NonFinite : TimeKind::None;
}

int64_t rounded_length(const Micros& start, const Micros& length) {
  if (start.part == 0 && length.part == 0) return length.negative ? -length.ns : length.ns;
  return round_scaled(scaled(start) + scaled(length)) - start.rounded();
}

}  // namespace dctx::trace_event
