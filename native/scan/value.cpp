#include "scan/value.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

#include "common/decimal_text.hpp"

namespace dctx::scan {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Without blanks around and a leading plus, which from_chars does not take.
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

}  // namespace

std::optional<int64_t> parse_integer(std::string_view text) {
  text = trimmed(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  text = trimmed(text);
  // Reading also takes "inf" and "nan"; a number has a digit or a point after its sign.
  const size_t first = !text.empty() && text[0] == '-' ? 1 : 0;
  if (first >= text.size() || (text[first] != '.' && (text[first] < '0' || text[first] > '9'))) {
    return std::nullopt;
  }
  double value = 0;
  if (read_decimal(text, value) != text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> truncate(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (!(value >= -kLimit && value < kLimit)) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::string format_real(double value) {
  char text[40];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, 17);
  return std::string(text, error == std::errc() ? end : text);
}

}  // namespace dctx::scan
