// Events on lines, against looking at each pair of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "check.hpp"
#include "tree/levels.hpp"

using namespace dctx;

namespace {

using Events = std::vector<std::pair<int64_t, int64_t>>;  // start, end

std::vector<int32_t> levels(const Events& events) {
  std::vector<int64_t> start, end;
  for (const auto& [from, to] : events) {
    start.push_back(from);
    end.push_back(to);
  }
  return stack_levels(start.data(), end.data(), events.size());
}

// Free at `from` of everything that came before row `row`.
bool free_at(const Events& events, const std::vector<int32_t>& level, size_t row, int32_t line) {
  for (size_t i = 0; i < row; ++i) {
    if (level[i] == line && events[i].second > events[row].first) return false;
  }
  return true;
}

void each_takes_the_lowest_free_line() {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    Events events(random() % 40);
    for (auto& [start, end] : events) {
      start = static_cast<int64_t>(random() % 60);
      end = start + static_cast<int64_t>(random() % 12);
    }
    std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    const std::vector<int32_t> level = levels(events);
    CHECK_EQUAL(level.size(), events.size());
    for (size_t row = 0; row < events.size(); ++row) {
      int32_t lowest = 0;
      while (!free_at(events, level, row, lowest)) ++lowest;
      CHECK_EQUAL(level[row], lowest);
    }
  }
}

void nested_ones_are_below() {
  const Events events{{0, 100}, {0, 10}, {10, 90}, {20, 30}, {30, 30}, {30, 40}, {100, 110}};
  CHECK_EQUAL(levels(events), (std::vector<int32_t>{0, 1, 1, 2, 2, 2, 0}));
}

void the_ends_of_time() {
  const int64_t last = INT64_MAX, first = INT64_MIN;
  CHECK_EQUAL(levels({{first, last}, {0, last}, {last, last}}), (std::vector<int32_t>{0, 1, 0}));
  CHECK_EQUAL(levels({}), std::vector<int32_t>{});
}

void what_is_out_of_order_is_refused() {
  CHECK_THROWS(levels({{5, 4}}), std::invalid_argument);
  CHECK_THROWS(levels({{5, 6}, {4, 8}}), std::invalid_argument);
}

}  // namespace

int main() {
  each_takes_the_lowest_free_line();
  nested_ones_are_below();
  the_ends_of_time();
  what_is_out_of_order_is_refused();
  return dctx_test::report();
}
