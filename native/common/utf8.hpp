#pragma once
#include <string_view>
#include <vector>

namespace dctx {

// Appends `text` to `out` as valid UTF-8: each maximal ill-formed part becomes U+FFFD (what
// Python's "replace" does too).
void append_utf8(std::string_view text, std::vector<char>& out);

// Appends two hexadecimal digits for each byte.
void append_hex(std::string_view bytes, std::vector<char>& out);

}  // namespace dctx
