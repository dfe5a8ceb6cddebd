#include "scan/json_text.hpp"

#include <cstdint>
#include <optional>

namespace dctx::scan {
namespace {

constexpr uint32_t kReplacement = 0xFFFD;

std::optional<uint32_t> four_digits(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  uint32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    const int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    value = value << 4 | static_cast<uint32_t>(digit);
  }
  return value;
}

void append(uint32_t point, std::string& out) {
  const auto byte = [&out](uint32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0 | point >> 6);
    byte(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    byte(0xE0 | point >> 12);
    byte(0x80 | (point >> 6 & 0x3F));
    byte(0x80 | (point & 0x3F));
  } else {
    byte(0xF0 | point >> 18);
    byte(0x80 | (point >> 12 & 0x3F));
    byte(0x80 | (point >> 6 & 0x3F));
    byte(0x80 | (point & 0x3F));
  }
}

// The code point of the escape whose digits `rest` begins with; `used`: characters taken.
uint32_t code_point(std::string_view rest, size_t& used) {
  const std::optional<uint32_t> first = four_digits(rest);
  if (!first) {  // what there is of the digits goes with it
    used = 0;
    while (used < rest.size() && used < 3 && hex_digit(rest[used]) >= 0) ++used;
    return kReplacement;
  }
  used = 4;
  if (*first == 0) return kReplacement;
  if (*first < 0xD800 || *first > 0xDFFF) return *first;
  if (*first > 0xDBFF || rest.substr(4, 2) != "\\u") return kReplacement;
  const std::optional<uint32_t> second = four_digits(rest.substr(6));
  if (!second || *second < 0xDC00 || *second > 0xDFFF) return kReplacement;
  used = 10;
  return 0x10000 + ((*first - 0xD800) << 10 | (*second - 0xDC00));
}

}  // namespace

bool append_unescaped(std::string_view raw, std::string& out) {
  bool repaired = false;
  out.reserve(out.size() + raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\0') {
      append(kReplacement, out);
      repaired = true;
      continue;
    }
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      out.push_back(raw[i]);
      continue;
    }
    const char c = raw[++i];
    static constexpr std::string_view kNamed = "bfnrt\"\\/";
    static constexpr std::string_view kMeant = "\b\f\n\r\t\"\\/";
    const size_t named = kNamed.find(c);
    if (named != std::string_view::npos) {
      out.push_back(kMeant[named]);
    } else if (c == 'u') {
      size_t used = 0;
      const uint32_t point = code_point(raw.substr(i + 1), used);
      // U+FFFD itself may stand in the file, escaped.
      repaired |= point == kReplacement && four_digits(raw.substr(i + 1)) != kReplacement;
      append(point, out);
      i += used;
    } else {
      out.push_back('\\');
      --i;  // what follows is read as it is
    }
  }
  return repaired;
}

std::string unescape(std::string_view raw) {
  std::string out;
  append_unescaped(raw, out);
  return out;
}

}  // namespace dctx::scan
