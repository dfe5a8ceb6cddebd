#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace dctx::scan {

struct Blob {
  std::string bytes;
};

// A value of SQLite's five storage classes.
using Value = std::variant<std::monostate, int64_t, double, std::string, Blob>;

// Conversions of a stored value to the type a column is read as. std::nullopt: no such value.

// A decimal integer, blanks around it allowed, nothing else.
std::optional<int64_t> parse_integer(std::string_view text);
// A decimal number with optional fraction and exponent, blanks around it allowed; infinite past the
// largest double.
std::optional<double> parse_real(std::string_view text);
// Towards zero; none outside int64.
std::optional<int64_t> truncate(double value);
// 17 significant digits, as printf's %.17g.
std::string format_real(double value);

}  // namespace dctx::scan
