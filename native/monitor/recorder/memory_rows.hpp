#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "monitor/engine/thread_record.hpp"

namespace dctx::monitor {

// Content of the chunk that tells what contexts of a thread allocated: rows that changed since
// `written`, which is brought up to date; those of nodes from `nodes` on wait for the next time.
// Empty when there is none.
std::string memory_table(const ThreadRecord& record, uint32_t nodes,
                         std::vector<uint64_t>& written);

}  // namespace dctx::monitor
