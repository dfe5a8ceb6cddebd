#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/intervals.hpp"

namespace dctx {

// Disjoint intervals of each group, ascending: none is empty, touching ones are one. Every
// operation is a linear sweep.
class IntervalSets {
 public:
  // The union of the intervals of each group; a negative group is left out.
  IntervalSets(const GroupedIntervals& intervals, int32_t groups);

  int32_t groups() const { return static_cast<int32_t>(offsets_.size() - 1); }
  size_t count() const { return start_.size(); }
  const std::vector<int64_t>& starts() const { return start_; }
  const std::vector<int64_t>& ends() const { return end_; }
  std::vector<int32_t> group_column() const;
  std::vector<int64_t> lengths() const;

  IntervalSets clip(int64_t start, int64_t end) const;
  // What each group leaves free of the window.
  IntervalSets gaps(int64_t start, int64_t end) const;
  // Length of the common part, by group: intersect(other).lengths() without the intervals.
  std::vector<int64_t> overlap(const IntervalSets& other) const;
  // How many of the points lie in their group's intervals (start <= t < end), by group; a negative
  // group is left out. Ascending points of a group take constant time each.
  std::vector<int64_t> count_inside(const int32_t* group, const int64_t* point,
                                    size_t points) const;
  // Group by group; std::invalid_argument when the numbers of groups differ.
  IntervalSets intersect(const IntervalSets& other) const;
  IntervalSets unite(const IntervalSets& other) const;
  IntervalSets subtract(const IntervalSets& other) const;
  // The sets of the given groups, in that order; a group may be taken several times.
  IntervalSets take(const int32_t* groups, size_t count) const;

 private:
  IntervalSets() : offsets_{0} {}
  // Calls visit(group, start, end) for each part that both have.
  template <class Visitor>
  void common_parts(const IntervalSets& other, Visitor&& visit) const;
  void check_like(const IntervalSets& other) const;
  void add(int64_t start, int64_t end);
  void reserve(size_t most);
  void close_group() { offsets_.push_back(start_.size()); }

  std::vector<size_t> offsets_;  // of each group in the columns, and the end
  std::vector<int64_t> start_, end_;
};

}  // namespace dctx
