#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dctx {

// Borrowed columns of intervals; a negative group is left out.
struct GroupedIntervals {
  const int32_t* group;
  const int64_t* start;
  const int64_t* end;
  size_t rows;
};

// Length of the union of the intervals of each group.
std::vector<int64_t> union_ns(const GroupedIntervals& intervals, int32_t groups);

// Time of the window by group and lowest open rank, row-major groups x (ranks + 1); the last
// column is the time with no interval open.
std::vector<int64_t> cover(const GroupedIntervals& intervals, const uint8_t* rank, int32_t groups,
                           int32_t ranks, int64_t window_start, int64_t window_end);

}  // namespace dctx
