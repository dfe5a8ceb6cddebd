#include "scan/default_value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "scan/schema.hpp"

namespace dctx::scan {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool contains(std::string_view text, std::string_view word) {
  for (size_t i = 0; i + word.size() <= text.size(); ++i) {
    if (same_name(text.substr(i, word.size()), word)) return true;
  }
  return false;
}

enum class Affinity { Integer, Text, Blob, Real, Numeric };

// https://www.sqlite.org/datatype3.html section 3.1, in its order of precedence.
Affinity affinity_of(std::string_view type) {
  if (contains(type, "INT")) return Affinity::Integer;
  if (contains(type, "CHAR") || contains(type, "CLOB") || contains(type, "TEXT")) {
    return Affinity::Text;
  }
  if (type.empty() || contains(type, "BLOB")) return Affinity::Blob;
  if (contains(type, "REAL") || contains(type, "FLOA") || contains(type, "DOUB")) {
    return Affinity::Real;
  }
  return Affinity::Numeric;
}

Value with_affinity(Value value, Affinity affinity) {
  if (affinity == Affinity::Text) {
    if (const auto* integer = std::get_if<int64_t>(&value)) value = std::to_string(*integer);
    return value;
  }
  if (affinity == Affinity::Blob) return value;
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (const auto integer = parse_integer(*text)) {
      value = *integer;
    } else if (const auto real = parse_real(*text)) {
      value = *real;
    }
  }
  if (affinity == Affinity::Real) {
    if (const auto* integer = std::get_if<int64_t>(&value)) value = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    const auto integer = truncate(*real);
    if (integer && static_cast<double>(*integer) == *real) value = *integer;
  }
  return value;
}

std::optional<std::string> unhex(std::string_view digits) {
  std::string bytes;
  int high = -1;
  for (const char c : digits) {
    const char l = lower(c);
    int nibble;
    if (l >= '0' && l <= '9') {
      nibble = l - '0';
    } else if (l >= 'a' && l <= 'f') {
      nibble = l - 'a' + 10;
    } else {
      return std::nullopt;
    }
    if (high < 0) {
      high = nibble;
    } else {
      bytes += static_cast<char>(high * 16 + nibble);
      high = -1;
    }
  }
  if (high >= 0) return std::nullopt;
  return bytes;
}

bool number(const std::string& digits, bool negative, Value& out) {
  if (digits.size() > 2 && lower(digits[1]) == 'x') {
    if (digits.size() > 18) return false;
    uint64_t bits = 0;
    for (const char c : digits.substr(2)) {
      const char l = lower(c);
      if (!((l >= '0' && l <= '9') || (l >= 'a' && l <= 'f'))) return false;
      bits = bits * 16 + static_cast<uint64_t>(l <= '9' ? l - '0' : l - 'a' + 10);
    }
    out.emplace<int64_t>(static_cast<int64_t>(negative ? 0 - bits : bits));
    return true;
  }
  const std::string text = (negative ? "-" : "") + digits;
  if (const auto integer = parse_integer(text)) {
    out.emplace<int64_t>(*integer);
    return true;
  }
  const auto real = parse_real(text);
  if (real) out.emplace<double>(*real);
  return real.has_value();
}

}  // namespace

bool read_default(const Token& literal, bool sign, bool negative, std::string_view declared_type,
                  Value& out) {
  const Affinity affinity = affinity_of(declared_type);
  Value value;
  switch (literal.kind) {
    case TokenKind::Number:
      if (!number(literal.text, negative, value)) return false;
      if (affinity == Affinity::Text && std::holds_alternative<double>(value)) {
        if (negative) return false;
        value.emplace<std::string>(literal.text);
      }
      break;
    case TokenKind::String:
    case TokenKind::QuotedName:
      value.emplace<std::string>(literal.text);
      break;
    case TokenKind::BlobLiteral: {
      auto bytes = unhex(literal.text);
      if (!bytes) return false;
      value.emplace<Blob>(Blob{std::move(*bytes)});
      break;
    }
    case TokenKind::Word:
      if (literal.is_word("TRUE") || literal.is_word("FALSE")) {
        if (affinity == Affinity::Text) return false;
        value.emplace<int64_t>(literal.is_word("TRUE") ? 1 : 0);
      } else if (!literal.is_word("NULL")) {
        // A bare identifier is taken as its text. CURRENT_TIME and the like cannot be the
        // default of an added column, so no row lacks them.
        value.emplace<std::string>(literal.text);
      }
      break;
    case TokenKind::Symbol:
      return false;
  }
  if (sign && literal.kind != TokenKind::Number) return false;
  out = with_affinity(std::move(value), affinity);
  return true;
}

}  // namespace dctx::scan
