#pragma once
#include <string>
#include <string_view>

namespace dctx::scan {

// Value of a hexadecimal digit, -1 for another character.
inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A JSON string without its escapes. A lone surrogate, NUL or damaged \u becomes U+FFFD; a
// backslash before anything else stands for itself.
std::string unescape(std::string_view raw);

}  // namespace dctx::scan
