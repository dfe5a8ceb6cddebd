// Sets of intervals and blame, against counting each instant.
#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "check.hpp"
#include "tree/blame.hpp"
#include "tree/interval_sets.hpp"

using namespace dctx;

namespace {

constexpr int32_t kGroups = 3;
constexpr int64_t kTime = 40;

struct Rows {
  std::vector<int32_t> group;
  std::vector<int64_t> start, end;

  GroupedIntervals columns() const {
    return {group.data(), start.data(), end.data(), group.size()};
  }
  bool covers(int32_t g, int64_t time) const {
    for (size_t i = 0; i < group.size(); ++i) {
      if (group[i] == g && start[i] <= time && time < end[i]) return true;
    }
    return false;
  }
};

Rows random_rows(std::mt19937& random, size_t count) {
  Rows rows;
  for (size_t i = 0; i < count; ++i) {
    rows.group.push_back(static_cast<int32_t>(random() % (kGroups + 1)) - 1);
    rows.start.push_back(static_cast<int64_t>(random() % kTime));
    rows.end.push_back(rows.start.back() + static_cast<int64_t>(random() % 8));
  }
  return rows;
}

// Length by group of the instants that fulfil the condition.
template <class Condition>
std::vector<int64_t> counted(Condition&& condition) {
  std::vector<int64_t> lengths;
  for (int32_t g = 0; g < kGroups; ++g) {
    int64_t length = 0;
    for (int64_t t = 0; t < kTime + 8; ++t) length += condition(g, t) ? 1 : 0;
    lengths.push_back(length);
  }
  return lengths;
}

void operations_on_random_sets() {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Rows left = random_rows(random, random() % 12), right = random_rows(random, 8);
    const IntervalSets a(left.columns(), kGroups), b(right.columns(), kGroups);
    CHECK_EQUAL(a.lengths(), counted([&](int32_t g, int64_t t) { return left.covers(g, t); }));
    const auto both =
        counted([&](int32_t g, int64_t t) { return left.covers(g, t) && right.covers(g, t); });
    CHECK_EQUAL(a.intersect(b).lengths(), both);
    CHECK_EQUAL(a.overlap(b), both);
    CHECK_EQUAL(a.unite(b).lengths(), counted([&](int32_t g, int64_t t) {
                  return left.covers(g, t) || right.covers(g, t);
                }));
    CHECK_EQUAL(a.subtract(b).lengths(), counted([&](int32_t g, int64_t t) {
                  return left.covers(g, t) && !right.covers(g, t);
                }));
    CHECK_EQUAL(a.gaps(5, 30).lengths(), counted([&](int32_t g, int64_t t) {
                  return t >= 5 && t < 30 && !left.covers(g, t);
                }));
    CHECK_EQUAL(a.clip(5, 30).lengths(), counted([&](int32_t g, int64_t t) {
                  return t >= 5 && t < 30 && left.covers(g, t);
                }));
    std::vector<int64_t> inside(kGroups);
    for (size_t i = 0; i < right.group.size(); ++i) {
      const int32_t g = right.group[i];
      if (g >= 0 && left.covers(g, right.start[i])) ++inside[static_cast<size_t>(g)];
    }
    CHECK_EQUAL(a.count_inside(right.group.data(), right.start.data(), right.group.size()), inside);
  }
}

void sets_of_no_groups() {
  const IntervalSets none({nullptr, nullptr, nullptr, 0}, 0);
  CHECK_EQUAL(none.groups(), 0);
  CHECK_EQUAL(none.gaps(0, 5).count(), size_t{0});
  CHECK_EQUAL(none.unite(none).count(), size_t{0});
  const IntervalSets one({nullptr, nullptr, nullptr, 0}, 1);
  CHECK_THROWS(one.intersect(none), std::invalid_argument);
  const int32_t beyond = 1;
  CHECK_THROWS(one.take(&beyond, 1), std::invalid_argument);
}

void blame_sums_to_the_spans() {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const size_t count = random() % 20;
    Rows rows = random_rows(random, count);
    std::vector<uint8_t> rank;
    std::vector<int32_t> label;
    for (size_t i = 0; i < count; ++i) {
      rank.push_back(static_cast<uint8_t>(random() % 4));
      label.push_back(static_cast<int32_t>(random() % 6) - 1);
    }
    std::vector<int32_t> lane, group, key;
    std::vector<int64_t> start, end;
    std::map<int32_t, int64_t> expected;
    for (int32_t l = 0; l < kGroups; ++l) {
      for (int64_t at = 0; at < kTime; at += 1 + static_cast<int64_t>(random() % 5)) {
        lane.push_back(l);
        group.push_back(0);
        key.push_back(static_cast<int32_t>(random() % 3));
        start.push_back(at);
        at += static_cast<int64_t>(random() % 6);
        end.push_back(at);
        expected[key.back()] += end.back() - start.back();
      }
    }
    const BlameRows out = blame(
        {rows.group.data(), rows.start.data(), rows.end.data(), rank.data(), label.data(), count},
        {lane.data(), group.data(), key.data(), start.data(), end.data(), lane.size()});
    std::map<int32_t, int64_t> sums;
    for (size_t i = 0; i < out.key.size(); ++i) {
      CHECK(out.ns[i] > 0);
      sums[out.key[i]] += out.ns[i];
    }
    for (const auto& [number, length] : expected) CHECK_EQUAL(sums[number], length);
  }
}

}  // namespace

int main() {
  operations_on_random_sets();
  sets_of_no_groups();
  blame_sums_to_the_spans();
  return dctx_test::report();
}
