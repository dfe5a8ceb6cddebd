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

// Appends the text of a JSON string's body, without its escapes. A lone surrogate, NUL or damaged
// \u becomes U+FFFD; a backslash before anything else stands for itself. True when a U+FFFD was put
// in.
bool append_unescaped(std::string_view raw, std::string& out);

std::string unescape(std::string_view raw);

}  // namespace dctx::scan
