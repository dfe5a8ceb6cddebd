// Keys of rows, orders, sums by group, interval unions.
#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "tree/intervals.hpp"
#include "tree/row_keys.hpp"
#include "tree/sort_order.hpp"
#include "tree/stats.hpp"

using namespace dctx;

namespace {

using Ids = std::vector<int32_t>;
using Order = std::vector<uint32_t>;

KeyColumn column(const std::vector<int8_t>& v) { return {v.data(), IntType::I8}; }
KeyColumn column(const std::vector<uint8_t>& v) { return {v.data(), IntType::U8}; }
KeyColumn column(const std::vector<int32_t>& v) { return {v.data(), IntType::I32}; }
KeyColumn column(const std::vector<int64_t>& v) { return {v.data(), IntType::I64}; }
KeyColumn column(const std::vector<uint64_t>& v) { return {v.data(), IntType::U64}; }

constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();

void keys_of_any_width() {
  const std::vector<int64_t> wide{kLow, kHigh, kLow, 0};
  const std::vector<uint64_t> big{0, ~uint64_t{0}, 0, 1};
  const InternedRows rows = intern_rows({{column(wide), column(big)}, 4});
  CHECK_EQUAL(rows.ids, (Ids{0, 1, 0, 2}));
  CHECK_EQUAL(rows.first_rows, (std::vector<int64_t>{0, 1, 3}));
  CHECK_THROWS(intern_rows({{}, 0}), std::invalid_argument);
}

void join_across_types() {
  const std::vector<int64_t> left{-1, 255, 7, 256, kHigh};
  const std::vector<uint8_t> right{7, 255, 7};
  CHECK_EQUAL(join_first({{column(left)}, 5}, {{column(right)}, 3}), (Ids{-1, 1, 0, -1, -1}));
  // -1 and 2^64 - 1 have the same bits, but are not the same number.
  const std::vector<uint64_t> huge{~uint64_t{0}, 5};
  const std::vector<int64_t> negative{-1, 5};
  CHECK_EQUAL(join_first({{column(negative)}, 2}, {{column(huge)}, 2}), (Ids{-1, 1}));
  CHECK_EQUAL(join_first({{column(huge)}, 2}, {{column(negative)}, 2}), (Ids{-1, 1}));
  CHECK_EQUAL(join_first({{column(left)}, 5}, {{column(right)}, 0}), (Ids(5, -1)));
  CHECK_THROWS(join_first({{column(left)}, 5}, {{column(right), column(right)}, 3}),
               std::invalid_argument);
}

void join_many_sparse_keys() {
  std::mt19937_64 random(1);
  std::vector<int64_t> key(100'000);
  for (int64_t& k : key) k = static_cast<int64_t>(random());
  std::vector<int64_t> shuffled(key);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  const Ids found = join_first({{column(shuffled)}, key.size()}, {{column(key)}, key.size()});
  bool right = true;
  for (size_t i = 0; i < found.size(); ++i) {
    right = right && found[i] >= 0 && key[static_cast<size_t>(found[i])] == shuffled[i];
  }
  CHECK(right);
}

// Against std::stable_sort, on inputs that take each path: sorted, a few runs, time order within
// mixed lanes, random, and keys of more than 64 bits.
void order_is_stable() {
  std::mt19937 random(2);
  const size_t n = 20'000;
  for (const int shape : {0, 1, 2, 3, 4}) {
    std::vector<int8_t> lane(n);
    std::vector<int64_t> time(n);
    for (size_t i = 0; i < n; ++i) {
      const auto at = static_cast<int64_t>(i);
      lane[i] = static_cast<int8_t>(shape == 0 ? 0 : static_cast<int>(random() % 5) - 2);
      time[i] = shape == 1   ? at % 7001
                : shape == 2 ? at / 3
                             : static_cast<int64_t>(random() % 4000);
      if (shape == 0) time[i] = at / 2;
      if (shape == 4) time[i] = (time[i] - 2000) * (int64_t{1} << 50);
    }
    const std::vector<int64_t> minus(time.rbegin(), time.rend());
    Order expected(n);
    std::iota(expected.begin(), expected.end(), 0U);
    std::stable_sort(expected.begin(), expected.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(lane[a], time[a], minus[a]) < std::tie(lane[b], time[b], minus[b]);
    });
    const KeyColumns table{{column(lane), column(time), column(minus)}, n};
    CHECK(sort_order(table) == expected);
    CHECK_EQUAL(is_sorted(table), std::is_sorted(expected.begin(), expected.end()));
    std::stable_sort(expected.begin(), expected.end());
    std::stable_sort(expected.begin(), expected.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(lane[a], time[a]) < std::tie(lane[b], time[b]);
    });
    CHECK(sort_order({{column(lane), column(time)}, n}) == expected);
  }
  CHECK_EQUAL(sort_order({{column(std::vector<int64_t>{})}, 0}), Order{});
}

void sums_by_group() {
  const std::vector<int64_t> value{5, -3, 7, 100};
  for (const int64_t far : {int64_t{9}, kHigh}) {  // few groups, and groups far apart
    const std::vector<int64_t> group{far, 2, far, -1};
    const GroupStats stats = group_stats(column(group), value.data(), 4);
    CHECK_EQUAL(stats.group, (std::vector<int64_t>{2, far}));
    CHECK_EQUAL(stats.count, (std::vector<int64_t>{1, 2}));
    CHECK_EQUAL(stats.sum, (std::vector<int64_t>{-3, 12}));
    CHECK_EQUAL(stats.min, (std::vector<int64_t>{-3, 5}));
    CHECK_EQUAL(stats.max, (std::vector<int64_t>{-3, 7}));
    CHECK_EQUAL(stats.sum_squares, (std::vector<double>{9, 74}));
  }
  const std::vector<uint64_t> beyond{~uint64_t{0}};
  CHECK_THROWS(group_stats(column(beyond), value.data(), 1), std::invalid_argument);
  const std::vector<int32_t> none{-1, -5};
  CHECK(group_stats(column(none), value.data(), 2).group.empty());
  const std::vector<int32_t> own_parent{-1, 1};
  CHECK_THROWS(check_parents(own_parent.data(), 2), std::invalid_argument);
}

void unions() {
  const Ids group{0, 0, -1, 1, 0, 0};
  const std::vector<int64_t> start{5, 0, 0, 3, 8, 1};
  const std::vector<int64_t> end{9, 6, 99, 3, 12, 2};
  const GroupedIntervals intervals{group.data(), start.data(), end.data(), 6};
  CHECK_EQUAL(union_ns(intervals, 2), (std::vector<int64_t>{12, 0}));
  CHECK_THROWS(union_ns(intervals, 1), std::invalid_argument);
  CHECK_THROWS(union_ns(intervals, -1), std::invalid_argument);
  const std::vector<uint8_t> rank{1, 0, 0, 0, 1, 1};
  CHECK_EQUAL(cover(intervals, rank.data(), 2, 2, 1, 11),
              (std::vector<int64_t>{5, 5, 0, 0, 0, 10}));
  CHECK_THROWS(cover(intervals, rank.data(), 2, 1, 0, 10), std::invalid_argument);
  CHECK_THROWS(cover(intervals, rank.data(), 2, 2, 10, 0), std::invalid_argument);
}

}  // namespace

int main() {
  keys_of_any_width();
  join_across_types();
  join_many_sparse_keys();
  order_is_stable();
  sums_by_group();
  unions();
  return dctx_test::report();
}
