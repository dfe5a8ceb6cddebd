#pragma once
#include <string>
#include <string_view>

namespace dctx {

// Appends `text` (valid UTF-8) as a JSON string.
void append_json_string(std::string& out, std::string_view text);
// Appends the shortest number that reads back as `value`; null when it is not finite.
void append_json_number(std::string& out, double value);

}  // namespace dctx
