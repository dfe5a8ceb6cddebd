#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/key_columns.hpp"

namespace dctx {

struct GroupStats {
  std::vector<int64_t> group;
  std::vector<int64_t> count;
  std::vector<int64_t> sum;
  std::vector<int64_t> min;
  std::vector<int64_t> max;
  std::vector<double> sum_squares;
};

// One row per group that has values, ordered by group; negative groups are left out.
GroupStats group_stats(const KeyColumn& group, const int64_t* value, size_t rows);

// Throws std::invalid_argument unless each parent is -1 or precedes its child.
void check_parents(const int32_t* parent, size_t nodes);

// Exclusive values, step by step: the row that counts each node (-1: none), the rank of each step.
// Borrowed columns.
struct StepValues {
  const int32_t* step;
  const int32_t* node;
  const int64_t* value;
  size_t size;
  const int64_t* row_of;
  size_t nodes;
  const int64_t* rank;
  size_t steps;
};

// By rank and row.
struct SubtreeSamples {
  // What the row costs itself in all steps.
  std::vector<int64_t> own;
  // The sum over the steps of the squared value of the row's subtree.
  std::vector<double> squares;
};

// `parent`: of the rows. Throws std::invalid_argument for steps, nodes, rows and ranks out of
// range.
SubtreeSamples subtree_samples(const int32_t* parent, size_t rows, const StepValues& in,
                               size_t ranks);

// Sums over subtrees, in place.
template <class Number>
void accumulate_to_parents(const int32_t* parent, Number* values, size_t nodes) {
  for (size_t node = nodes; node-- > 0;) {
    if (parent[node] >= 0) values[parent[node]] += values[node];
  }
}

}  // namespace dctx
