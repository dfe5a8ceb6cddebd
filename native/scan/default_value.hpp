#pragma once
#include <string_view>

#include "scan/sql_tokens.hpp"
#include "scan/value.hpp"

namespace dctx::scan {

// The value that the literal behind DEFAULT gives a column of the declared type. `sign`: one stands
// before it. False for what only SQLite itself can tell, by an expression or by a rule that its
// versions do not agree on.
bool read_default(const Token& literal, bool sign, bool negative, std::string_view declared_type,
                  Value& out);

}  // namespace dctx::scan
