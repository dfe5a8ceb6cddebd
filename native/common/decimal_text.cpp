#include "common/decimal_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <system_error>

namespace dctx {
namespace {

#if defined(__cpp_lib_to_chars)
// Whether a number that is no double is too large for one, and not too small.
bool is_too_large(std::string_view number) {
  const size_t mark = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, mark);
  const size_t point = std::min(digits.find('.'), mark);
  const auto place =
      static_cast<int64_t>(point) - static_cast<int64_t>(digits.find_first_of("123456789"));
  if (mark == number.size()) return place > 0;
  const bool negative = number[mark + 1] == '-';
  const size_t sign = negative || number[mark + 1] == '+' ? 1 : 0;
  int64_t power = 0;
  const auto read =
      std::from_chars(number.data() + mark + 1 + sign, number.data() + number.size(), power);
  if (read.ec != std::errc()) return !negative;  // no text has so many digits
  return place + (negative ? -power : power) > 0;
}
#endif

}  // namespace

size_t read_decimal(std::string_view text, double& value) {
#if defined(__cpp_lib_to_chars)
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument) return 0;
  const auto size = static_cast<size_t>(end - text.data());
  if (error == std::errc::result_out_of_range) {
    value = is_too_large(text.substr(0, size)) ? std::numeric_limits<double>::infinity() : 0.0;
    if (text.front() == '-') value = -value;
  }
  return size;
#else
  const std::string copy(text.substr(0, text.find_first_of("xX")));
  char* end = nullptr;
  value = std::strtod(copy.c_str(), &end);
  return static_cast<size_t>(end - copy.c_str());
#endif
}

}  // namespace dctx
