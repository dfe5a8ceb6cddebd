#include "tree/bottom_up.hpp"

#include <algorithm>
#include <limits>

#include "tree/key_columns.hpp"
#include "tree/key_table.hpp"
#include "tree/stats.hpp"

namespace dctx {
namespace {

// Recursion can make paths so long that few rows take ages: an endless wait is worse than a
// truncated listing.
constexpr size_t kMaxSteps = 200'000'000;

// A node with cost of its own on its way up: `at` is the ancestor reached, `row` stands for it.
struct Walker {
  int32_t origin;
  int32_t at;
  int32_t row;
};

class Builder {
 public:
  Builder(const int32_t* parent, const int32_t* frame, size_t nodes,
          const std::vector<MetricColumn>& exclusive)
      : parent_(parent), frame_(frame), exclusive_(exclusive) {
    for (size_t node = 0; node < nodes; ++node) {
      const auto id = static_cast<int32_t>(node);
      if (has_cost(node)) walkers_.push_back({id, id, -1});
    }
    while (result_.values.size() < exclusive.size()) {
      std::visit([&](const auto* values) { add_values(values); }, exclusive[result_.values.size()]);
    }
  }

  BottomUp run(size_t max_nodes) {
    size_t steps = 0;
    while (!walkers_.empty()) {
      steps += walkers_.size();
      const bool roots = result_.parent.empty();
      if (!add_level(roots ? std::numeric_limits<size_t>::max() : max_nodes) || steps > kMaxSteps) {
        result_.truncated = true;
        break;
      }
      climb();
    }
    return std::move(result_);
  }

 private:
  template <class Number>
  void add_values(const Number*) {
    result_.values.emplace_back(std::vector<Number>());
  }

  bool has_cost(size_t node) const {
    return std::any_of(exclusive_.begin(), exclusive_.end(), [&](const MetricColumn& column) {
      return std::visit([&](const auto* values) { return values[node] != 0; }, column);
    });
  }

  // Moves the walkers one caller up; those at the top of the tree are done.
  void climb() {
    size_t kept = 0;
    for (Walker walker : walkers_) {
      walker.at = parent_[walker.at];
      if (walker.at >= 0) walkers_[kept++] = walker;
    }
    walkers_.resize(kept);
  }

  // Gives each walker the row of its frame below the row it is at. False, and nothing added, when
  // that would make more than max_rows rows.
  bool add_level(size_t max_rows) {
    const size_t before = result_.parent.size();
    KeyTable level(1);
    std::vector<int32_t> rows(walkers_.size());
    for (size_t i = 0; i < walkers_.size(); ++i) {
      const Walker& walker = walkers_[i];
      const uint64_t key = (static_cast<uint64_t>(static_cast<uint32_t>(walker.row)) << 32) |
                           static_cast<uint32_t>(frame_[walker.at]);
      rows[i] = level.insert(&key);
    }
    if (before + level.size() > max_rows) return false;
    check_row_count(before + level.size());
    append_rows(level.size());
    for (size_t i = 0; i < walkers_.size(); ++i) {
      Walker& walker = walkers_[i];
      const size_t row = before + static_cast<size_t>(rows[i]);
      result_.parent[row] = walker.row;
      result_.frame[row] = frame_[walker.at];
      if (walker.row >= 0) {
        const int16_t above = result_.depth[static_cast<size_t>(walker.row)];
        const bool more = above < std::numeric_limits<int16_t>::max();
        result_.depth[row] = static_cast<int16_t>(above + (more ? 1 : 0));
      }
      if (heaviest_[row] < 0 || heavier(walker.origin, heaviest_[row])) {
        heaviest_[row] = walker.origin;
        result_.source[row] = walker.at;
      }
      add_cost(row, walker.origin);
      walker.row = static_cast<int32_t>(row);
    }
    return true;
  }

  void append_rows(size_t more) {
    const size_t rows = result_.parent.size() + more;
    result_.parent.resize(rows, -1);
    result_.frame.resize(rows);
    result_.depth.resize(rows, 0);
    result_.source.resize(rows, -1);
    heaviest_.resize(rows, -1);
    for (auto& column : result_.values) {
      std::visit([&](auto& values) { values.resize(rows, 0); }, column);
    }
  }

  // By the first metric in which the two differ.
  bool heavier(int32_t node, int32_t other) const {
    for (const MetricColumn& column : exclusive_) {
      const int order = std::visit(
          [&](const auto* values) {
            return (values[node] > values[other] ? 1 : 0) - (values[node] < values[other] ? 1 : 0);
          },
          column);
      if (order != 0) return order > 0;
    }
    return false;
  }

  void add_cost(size_t row, int32_t node) {
    for (size_t m = 0; m < exclusive_.size(); ++m) {
      std::visit(
          [&](const auto* values) {
            using Number = std::decay_t<decltype(*values)>;
            std::get<std::vector<Number>>(result_.values[m])[row] += values[node];
          },
          exclusive_[m]);
    }
  }

  const int32_t* parent_;
  const int32_t* frame_;
  const std::vector<MetricColumn>& exclusive_;
  std::vector<Walker> walkers_;
  std::vector<int32_t> heaviest_;  // origin of the heaviest cost in each row
  BottomUp result_;
};

}  // namespace

BottomUp bottom_up(const int32_t* parent, const int32_t* frame, size_t nodes,
                   const std::vector<MetricColumn>& exclusive, size_t max_nodes) {
  check_row_count(nodes);
  check_parents(parent, nodes);
  return Builder(parent, frame, nodes, exclusive).run(max_nodes);
}

}  // namespace dctx
