#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dctx {

// The line each interval is drawn on so that none hides another: the lowest that is free from its
// start on. Rows ascend by start, longer ones first where starts are equal, so that of nested
// intervals the outer one is above; std::invalid_argument when they do not ascend or one ends
// before it starts. O(rows log lines).
std::vector<int32_t> stack_levels(const int64_t* start, const int64_t* end, size_t rows);

}  // namespace dctx
