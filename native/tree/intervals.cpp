#include "tree/intervals.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "tree/nesting.hpp"
#include "tree/sort_order.hpp"

namespace dctx {
namespace {

// Length of a union, fed by intervals in order of their starts.
struct UnionLength {
  int64_t length = 0;
  int64_t reach = std::numeric_limits<int64_t>::min();

  void add(int64_t start, int64_t end) {
    if (end <= reach) return;
    length += end - std::max(start, reach);
    reach = end;
  }
};

std::vector<uint32_t> checked_order(const GroupedIntervals& intervals, int32_t groups) {
  if (groups < 0) throw std::invalid_argument("the number of groups is negative");
  check_intervals(intervals.start, intervals.end, intervals.rows);
  for (size_t i = 0; i < intervals.rows; ++i) {
    if (intervals.group[i] >= groups) throw std::invalid_argument("a group is out of range");
  }
  return sort_order(KeyColumns{{{intervals.group, IntType::I32}, {intervals.start, IntType::I64}},
                               intervals.rows});
}

}  // namespace

std::vector<int64_t> union_ns(const GroupedIntervals& intervals, int32_t groups) {
  std::vector<UnionLength> unions(static_cast<size_t>(std::max(groups, 0)));
  for (const uint32_t row : checked_order(intervals, groups)) {
    const int32_t group = intervals.group[row];
    if (group < 0) continue;
    unions[static_cast<size_t>(group)].add(intervals.start[row], intervals.end[row]);
  }
  std::vector<int64_t> lengths(unions.size());
  for (size_t g = 0; g < unions.size(); ++g) lengths[g] = unions[g].length;
  return lengths;
}

// The time whose lowest open rank is at most r is the union of the intervals of ranks 0 … r, so
// one union per rank, all fed by the same sweep, gives every column as a difference.
std::vector<int64_t> cover(const GroupedIntervals& intervals, const uint8_t* rank, int32_t groups,
                           int32_t ranks, int64_t window_start, int64_t window_end) {
  if (ranks < 0 || ranks > 256) throw std::invalid_argument("ranks is not within 0 … 256");
  check_intervals(&window_start, &window_end, 1);
  for (size_t i = 0; i < intervals.rows; ++i) {
    if (rank[i] >= ranks) throw std::invalid_argument("a rank is out of range");
  }
  const auto width = static_cast<size_t>(ranks);
  std::vector<UnionLength> unions(static_cast<size_t>(std::max(groups, 0)) * width);
  for (const uint32_t row : checked_order(intervals, groups)) {
    const int32_t group = intervals.group[row];
    if (group < 0) continue;
    const int64_t start = std::max(intervals.start[row], window_start);
    const int64_t end = std::min(intervals.end[row], window_end);
    if (end <= start) continue;
    UnionLength* const of_group = unions.data() + static_cast<size_t>(group) * width;
    for (size_t r = rank[row]; r < width; ++r) of_group[r].add(start, end);
  }
  std::vector<int64_t> table;
  table.reserve(static_cast<size_t>(groups) * (width + 1));
  for (size_t g = 0; g < static_cast<size_t>(groups); ++g) {
    int64_t covered = 0;
    for (size_t r = 0; r < width; ++r) {
      const int64_t length = unions[g * width + r].length;
      table.push_back(length - covered);
      covered = length;
    }
    table.push_back(window_end - window_start - covered);
  }
  return table;
}

}  // namespace dctx
