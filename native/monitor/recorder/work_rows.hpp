#pragma once
#include <string>
#include <vector>

#include "monitor/gpu/work_table.hpp"

namespace dctx::monitor {

// The content of a GMET chunk.
std::string work_content(const std::vector<gpu::WorkRow>& rows);

}  // namespace dctx::monitor
