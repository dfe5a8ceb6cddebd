#pragma once
// Raw JSON text of a file to text that is sound: each distinct one passes here once, at the end.
#include <string>
#include <string_view>

namespace dctx::trace_event {

// What stood between quotes, unescaped, as UTF-8. A backslash that escapes nothing stays; what has
// no character (bad bytes, lone surrogates, NUL) becomes U+FFFD. True when something did.
bool unescape(std::string_view body, std::string& out);

// A JSON value without blanks, that every JSON parser reads: strings escaped anew, inf, nan and
// other words null, brackets balanced.
void normalise_json(std::string_view value, std::string& out);

}  // namespace dctx::trace_event
