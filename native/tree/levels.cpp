#include "tree/levels.hpp"

#include <functional>
#include <queue>
#include <stdexcept>
#include <utility>

namespace dctx {

std::vector<int32_t> stack_levels(const int64_t* start, const int64_t* end, size_t rows) {
  using Taken = std::pair<int64_t, int32_t>;  // until when, which line
  std::priority_queue<Taken, std::vector<Taken>, std::greater<>> taken;
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> free;
  std::vector<int32_t> level(rows);
  int32_t lines = 0;
  for (size_t i = 0; i < rows; ++i) {
    if (end[i] < start[i]) throw std::invalid_argument("an interval ends before it starts");
    if (i > 0 && start[i] < start[i - 1]) throw std::invalid_argument("starts do not ascend");
    while (!taken.empty() && taken.top().first <= start[i]) {
      free.push(taken.top().second);
      taken.pop();
    }
    if (free.empty()) {
      level[i] = lines++;
    } else {
      level[i] = free.top();
      free.pop();
    }
    taken.emplace(end[i], level[i]);
  }
  return level;
}

}  // namespace dctx
