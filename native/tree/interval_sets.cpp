#include "tree/interval_sets.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "tree/nesting.hpp"
#include "tree/sort_order.hpp"

namespace dctx {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

void check_window(int64_t start, int64_t end) { check_intervals(&start, &end, 1); }

}  // namespace

IntervalSets::IntervalSets(const GroupedIntervals& intervals, int32_t groups) : offsets_{0} {
  if (groups < 0) throw std::invalid_argument("the number of groups is negative");
  check_intervals(intervals.start, intervals.end, intervals.rows);
  for (size_t i = 0; i < intervals.rows; ++i) {
    if (intervals.group[i] >= groups) throw std::invalid_argument("a group is out of range");
  }
  const KeyColumns keys{{{intervals.group, IntType::I32}, {intervals.start, IntType::I64}},
                        intervals.rows};
  std::vector<uint32_t> order;
  const bool sorted = is_sorted(keys);
  if (!sorted) order = sort_order(keys);
  reserve(intervals.rows);
  for (size_t i = 0; i < intervals.rows; ++i) {
    const size_t row = sorted ? i : order[i];
    const int32_t group = intervals.group[row];
    if (group < 0) continue;
    while (this->groups() < group) close_group();
    add(intervals.start[row], intervals.end[row]);
  }
  while (this->groups() < groups) close_group();
}

// Intervals of a group come in order of their starts.
void IntervalSets::add(int64_t start, int64_t end) {
  if (end <= start) return;
  if (start_.size() > offsets_.back() && start <= end_.back()) {
    end_.back() = std::max(end_.back(), end);
    return;
  }
  start_.push_back(start);
  end_.push_back(end);
}

// Pages that nothing is written to take no memory, a column that grows is copied.
void IntervalSets::reserve(size_t most) {
  start_.reserve(most);
  end_.reserve(most);
}

std::vector<int32_t> IntervalSets::group_column() const {
  std::vector<int32_t> column;
  column.reserve(count());
  for (int32_t g = 0; g < groups(); ++g) column.resize(offsets_[static_cast<size_t>(g) + 1], g);
  return column;
}

std::vector<int64_t> IntervalSets::lengths() const {
  std::vector<int64_t> lengths(offsets_.size() - 1);
  for (size_t g = 0; g < lengths.size(); ++g) {
    for (size_t i = offsets_[g]; i < offsets_[g + 1]; ++i) lengths[g] += end_[i] - start_[i];
  }
  return lengths;
}

IntervalSets IntervalSets::clip(int64_t start, int64_t end) const {
  check_window(start, end);
  IntervalSets out;
  out.reserve(count());
  for (size_t g = 0; g + 1 < offsets_.size(); ++g) {
    for (size_t i = offsets_[g]; i < offsets_[g + 1]; ++i) {
      out.add(std::max(start_[i], start), std::min(end_[i], end));
    }
    out.close_group();
  }
  return out;
}

IntervalSets IntervalSets::gaps(int64_t start, int64_t end) const {
  check_window(start, end);
  IntervalSets out;
  out.reserve(count() + offsets_.size());
  for (size_t g = 0; g + 1 < offsets_.size(); ++g) {
    int64_t free_from = start;
    for (size_t i = offsets_[g]; i < offsets_[g + 1]; ++i) {
      out.add(free_from, std::min(start_[i], end));
      free_from = std::max(free_from, end_[i]);
    }
    out.add(free_from, end);
    out.close_group();
  }
  return out;
}

void IntervalSets::check_like(const IntervalSets& other) const {
  if (groups() != other.groups()) {
    throw std::invalid_argument("sets of " + std::to_string(groups()) + " groups against " +
                                std::to_string(other.groups()));
  }
}

template <class Visitor>
void IntervalSets::common_parts(const IntervalSets& other, Visitor&& visit) const {
  check_like(other);
  for (size_t g = 0; g + 1 < offsets_.size(); ++g) {
    size_t i = offsets_[g], j = other.offsets_[g];
    while (i < offsets_[g + 1] && j < other.offsets_[g + 1]) {
      const int64_t start = std::max(start_[i], other.start_[j]);
      const int64_t end = std::min(end_[i], other.end_[j]);
      if (start < end) visit(g, start, end);
      if (end_[i] < other.end_[j]) {
        ++i;
      } else {
        ++j;
      }
    }
  }
}

IntervalSets IntervalSets::intersect(const IntervalSets& other) const {
  IntervalSets out;
  out.reserve(count() + other.count());
  common_parts(other, [&](size_t group, int64_t start, int64_t end) {
    while (out.offsets_.size() <= group) out.close_group();
    out.add(start, end);
  });
  while (out.groups() < groups()) out.close_group();
  return out;
}

std::vector<int64_t> IntervalSets::overlap(const IntervalSets& other) const {
  std::vector<int64_t> lengths(offsets_.size() - 1);
  common_parts(other,
               [&](size_t group, int64_t start, int64_t end) { lengths[group] += end - start; });
  return lengths;
}

std::vector<int64_t> IntervalSets::count_inside(const int32_t* group, const int64_t* point,
                                                size_t points) const {
  std::vector<int64_t> counts(offsets_.size() - 1);
  std::vector<size_t> at(offsets_.begin(), offsets_.end() - 1);  // first that ends after the point
  for (size_t n = 0; n < points; ++n) {
    if (group[n] < 0) continue;
    if (group[n] >= groups()) throw std::invalid_argument("a group is out of range");
    const auto g = static_cast<size_t>(group[n]);
    size_t& i = at[g];
    if (i > offsets_[g] && end_[i - 1] > point[n]) {
      const auto first = end_.begin() + static_cast<std::ptrdiff_t>(offsets_[g]);
      const auto last = end_.begin() + static_cast<std::ptrdiff_t>(i);
      i = static_cast<size_t>(std::upper_bound(first, last, point[n]) - end_.begin());
    }
    while (i < offsets_[g + 1] && end_[i] <= point[n]) ++i;
    if (i < offsets_[g + 1] && start_[i] <= point[n]) ++counts[g];
  }
  return counts;
}

IntervalSets IntervalSets::unite(const IntervalSets& other) const {
  check_like(other);
  IntervalSets out;
  out.reserve(count() + other.count());
  for (size_t g = 0; g + 1 < offsets_.size(); ++g) {
    size_t i = offsets_[g], j = other.offsets_[g];
    while (i < offsets_[g + 1] || j < other.offsets_[g + 1]) {
      const int64_t mine = i < offsets_[g + 1] ? start_[i] : kNever;
      const int64_t theirs = j < other.offsets_[g + 1] ? other.start_[j] : kNever;
      if (mine <= theirs) {
        out.add(start_[i], end_[i]);
        ++i;
      } else {
        out.add(other.start_[j], other.end_[j]);
        ++j;
      }
    }
    out.close_group();
  }
  return out;
}

IntervalSets IntervalSets::subtract(const IntervalSets& other) const {
  check_like(other);
  IntervalSets out;
  out.reserve(count() + other.count());
  for (size_t g = 0; g + 1 < offsets_.size(); ++g) {
    size_t j = other.offsets_[g];
    for (size_t i = offsets_[g]; i < offsets_[g + 1]; ++i) {
      int64_t from = start_[i];
      while (j < other.offsets_[g + 1] && other.end_[j] <= from) ++j;
      for (size_t k = j; k < other.offsets_[g + 1] && other.start_[k] < end_[i]; ++k) {
        out.add(from, other.start_[k]);
        from = other.end_[k];
        j = k;  // it may reach into the next interval
      }
      out.add(from, end_[i]);
    }
    out.close_group();
  }
  return out;
}

IntervalSets IntervalSets::take(const int32_t* groups, size_t count) const {
  IntervalSets out;
  for (size_t n = 0; n < count; ++n) {
    if (groups[n] < 0 || groups[n] >= this->groups()) {
      throw std::invalid_argument("a group is out of range");
    }
    const auto g = static_cast<size_t>(groups[n]);
    const auto first = static_cast<std::ptrdiff_t>(offsets_[g]);
    const auto last = static_cast<std::ptrdiff_t>(offsets_[g + 1]);
    out.start_.insert(out.start_.end(), start_.begin() + first, start_.begin() + last);
    out.end_.insert(out.end_.end(), end_.begin() + first, end_.begin() + last);
    out.close_group();
  }
  return out;
}

}  // namespace dctx
