#pragma once
#include <string>
#include <string_view>

#include "scan/document_rows.hpp"

namespace dctx::scan {

// Reads one msgpack value and tells its parts to DocumentRows. Returns "" or where and why it
// stopped: what came before is in the tables.
std::string read_msgpack(std::string_view bytes, DocumentRows& rows);

}  // namespace dctx::scan
