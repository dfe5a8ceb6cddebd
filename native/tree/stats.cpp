#include "tree/stats.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "tree/key_table.hpp"
#include "tree/sort_order.hpp"

namespace dctx {
namespace {

struct Sums {
  int64_t count = 0;
  int64_t sum = 0;
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = std::numeric_limits<int64_t>::min();
  double sum_squares = 0;

  void add(int64_t value) {
    ++count;
    sum += value;
    min = std::min(min, value);
    max = std::max(max, value);
    sum_squares += static_cast<double>(value) * static_cast<double>(value);
  }
};

void reserve(GroupStats& stats, size_t rows) {
  stats.group.reserve(rows);
  stats.count.reserve(rows);
  stats.sum.reserve(rows);
  stats.min.reserve(rows);
  stats.max.reserve(rows);
  stats.sum_squares.reserve(rows);
}

void append(GroupStats& stats, uint64_t group, const Sums& sums) {
  stats.group.push_back(static_cast<int64_t>(group));
  stats.count.push_back(sums.count);
  stats.sum.push_back(sums.sum);
  stats.min.push_back(sums.min);
  stats.max.push_back(sums.max);
  stats.sum_squares.push_back(sums.sum_squares);
}

template <class Group>
GroupStats stats_of(const Group* group, const int64_t* value, size_t rows) {
  GroupStats stats;
  if (rows == 0) return stats;
  const Group largest = min_max(group, rows).second;
  if (largest < Group{0}) return stats;
  const auto last = static_cast<uint64_t>(largest);
  if (last > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    throw std::invalid_argument("a group is out of range");
  }
  // Groups that lie close together, wherever they begin, index an array.
  uint64_t first = last;
  for (size_t i = 0; i < rows; ++i) {
    if (group[i] >= Group{0}) first = std::min(first, static_cast<uint64_t>(group[i]));
  }
  if (last - first <= rows + 4096) {
    std::vector<Sums> sums(static_cast<size_t>(last - first) + 1);
    for (size_t i = 0; i < rows; ++i) {
      if (group[i] >= Group{0}) sums[static_cast<uint64_t>(group[i]) - first].add(value[i]);
    }
    reserve(stats, static_cast<size_t>(std::count_if(sums.begin(), sums.end(),
                                                     [](const Sums& of) { return of.count > 0; })));
    for (size_t g = 0; g < sums.size(); ++g) {
      if (sums[g].count > 0) append(stats, first + g, sums[g]);
    }
    return stats;
  }
  KeyTable ids(1);
  std::vector<Sums> sums;
  for (size_t i = 0; i < rows; ++i) {
    if (group[i] < Group{0}) continue;
    const auto key = static_cast<uint64_t>(group[i]);
    const auto id = static_cast<size_t>(ids.insert(&key));
    if (id == sums.size()) sums.emplace_back();
    sums[id].add(value[i]);
  }
  std::vector<uint64_t> keys(ids.key(0), ids.key(0) + ids.size());
  reserve(stats, keys.size());
  for (const uint32_t id : sort_order(std::move(keys), 63)) append(stats, *ids.key(id), sums[id]);
  return stats;
}

}  // namespace

GroupStats group_stats(const KeyColumn& group, const int64_t* value, size_t rows) {
  check_row_count(rows);
  return visit_column(group, [&](const auto* values) { return stats_of(values, value, rows); });
}

void check_parents(const int32_t* parent, size_t nodes) {
  for (size_t node = 0; node < nodes; ++node) {
    if (parent[node] < -1 || parent[node] >= static_cast<int64_t>(node)) {
      throw std::invalid_argument("the parent of node " + std::to_string(node) +
                                  " is neither -1 nor an earlier node");
    }
  }
}

namespace {

void check(const StepValues& in, size_t rows, size_t ranks) {
  for (size_t i = 0; i < in.size; ++i) {
    if (in.step[i] < 0 || static_cast<size_t>(in.step[i]) >= in.steps || in.node[i] < 0 ||
        static_cast<size_t>(in.node[i]) >= in.nodes) {
      throw std::invalid_argument("a value has no such step or node");
    }
  }
  for (size_t n = 0; n < in.nodes; ++n) {
    if (in.row_of[n] < -1 || in.row_of[n] >= static_cast<int64_t>(rows)) {
      throw std::invalid_argument("a node has no such row");
    }
  }
  for (size_t s = 0; s < in.steps; ++s) {
    if (in.rank[s] < 0 || static_cast<size_t>(in.rank[s]) >= ranks) {
      throw std::invalid_argument("a step has no such rank");
    }
  }
}

// The values' positions by step; empty where they are in that order.
std::vector<size_t> order_of_steps(const StepValues& in) {
  if (std::is_sorted(in.step, in.step + in.size)) return {};
  std::vector<size_t> at(in.steps + 1, 0), order(in.size);
  for (size_t i = 0; i < in.size; ++i) ++at[static_cast<size_t>(in.step[i]) + 1];
  for (size_t s = 0; s < in.steps; ++s) at[s + 1] += at[s];
  for (size_t i = 0; i < in.size; ++i) order[at[static_cast<size_t>(in.step[i])]++] = i;
  return order;
}

}  // namespace

SubtreeSamples subtree_samples(const int32_t* parent, size_t rows, const StepValues& in,
                               size_t ranks) {
  check_parents(parent, rows);
  check(in, rows, ranks);
  const std::vector<size_t> order = order_of_steps(in);
  SubtreeSamples found{std::vector<int64_t>(ranks * rows, 0), std::vector<double>(ranks * rows, 0)};
  std::vector<int64_t> of_step(rows);
  size_t next = 0;
  for (size_t s = 0; s < in.steps && next < in.size; ++s) {
    std::fill(of_step.begin(), of_step.end(), 0);
    const size_t first = next;
    for (; next < in.size; ++next) {
      const size_t i = order.empty() ? next : order[next];
      if (static_cast<size_t>(in.step[i]) != s) break;
      const int64_t row = in.row_of[in.node[i]];
      if (row >= 0) of_step[static_cast<size_t>(row)] += in.value[i];
    }
    if (next == first) continue;
    int64_t* own = found.own.data() + static_cast<size_t>(in.rank[s]) * rows;
    for (size_t r = 0; r < rows; ++r) own[r] += of_step[r];
    accumulate_to_parents(parent, of_step.data(), rows);
    double* out = found.squares.data() + static_cast<size_t>(in.rank[s]) * rows;
    for (size_t r = 0; r < rows; ++r) {
      out[r] += static_cast<double>(of_step[r]) * static_cast<double>(of_step[r]);
    }
  }
  return found;
}

}  // namespace dctx
