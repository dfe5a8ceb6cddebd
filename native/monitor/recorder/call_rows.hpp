#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "monitor/engine/registry.hpp"

namespace dctx::monitor {

// Contents of the chunks that tell what contexts were called with.

// Sets of arguments [first, end) of the process.
std::string argument_table(const ArgumentTable& arguments, uint32_t first, uint32_t end);

// Rows [0, size) of a thread that count other calls than `written` says, which is brought up to
// date. Rows of nodes from `nodes` on wait for the next time. Empty when there is none.
std::string call_table(const ThreadRecord& record, size_t size, uint32_t nodes,
                       std::vector<uint64_t>& written);

}  // namespace dctx::monitor
