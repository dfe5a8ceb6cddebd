#include "tree/place_sums.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace dctx {
namespace {

// Runs may repeat places up to this many entries, or twice what was left of the last merge.
constexpr size_t kUnmerged = size_t{1} << 20;

}  // namespace

PlaceSums::PlaceSums(size_t groups, size_t values) : stride_(values + 1), entry_of_(groups, 0) {}

void PlaceSums::begin_run(int32_t place) {
  if (size() > 2 * merged_ + kUnmerged) merge();
  place_ = place;
  runs_.push_back({place, size()});
}

int64_t* PlaceSums::sums_of(int32_t group) {
  if (group < 0 || static_cast<size_t>(group) >= entry_of_.size()) {
    throw std::invalid_argument("there is no group " + std::to_string(group));
  }
  size_t& entry = entry_of_[static_cast<size_t>(group)];
  if (entry <= runs_.back().begin) {
    group_.push_back(group);
    sums_.resize(sums_.size() + stride_, 0);
    entry = size();
  }
  return sums_.data() + (entry - 1) * stride_;
}

void PlaceSums::add(const int32_t* place, const int32_t* group,
                    const std::vector<const int64_t*>& values, size_t rows) {
  if (values.size() + 1 != stride_) {
    throw std::invalid_argument("expected " + std::to_string(stride_ - 1) + " columns of values");
  }
  for (size_t i = 0; i < rows; ++i) {
    if (place[i] < 0) continue;
    if (place[i] != place_) begin_run(place[i]);
    int64_t* sums = sums_of(group[i]);
    ++sums[0];
    for (size_t v = 0; v < values.size(); ++v) sums[v + 1] += values[v][i];
  }
}

// Every place once, in order.
void PlaceSums::merge() {
  const auto in_order = [](const Run& a, const Run& b) { return a.place < b.place; };
  const auto not_after = [](const Run& a, const Run& b) { return a.place >= b.place; };
  if (std::adjacent_find(runs_.begin(), runs_.end(), not_after) != runs_.end()) {
    const std::vector<Run> runs = std::exchange(runs_, {});
    const std::vector<int32_t> groups = std::exchange(group_, {});
    const std::vector<int64_t> sums = std::exchange(sums_, {});
    std::vector<size_t> order(runs.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return in_order(runs[a], runs[b]); });
    std::fill(entry_of_.begin(), entry_of_.end(), size_t{0});
    for (const size_t i : order) {
      if (runs_.empty() || runs_.back().place != runs[i].place) {
        runs_.push_back({runs[i].place, size()});
      }
      const size_t end = i + 1 < runs.size() ? runs[i + 1].begin : groups.size();
      for (size_t entry = runs[i].begin; entry < end; ++entry) {
        int64_t* into = sums_of(groups[entry]);
        for (size_t v = 0; v < stride_; ++v) into[v] += sums[entry * stride_ + v];
      }
    }
  }
  merged_ = size();
  place_ = runs_.empty() ? -1 : runs_.back().place;
}

PlaceSums::Rows PlaceSums::rows() {
  merge();
  Rows found;
  found.group = group_;
  found.place.reserve(size());
  for (size_t i = 0; i < runs_.size(); ++i) {
    found.place.resize(i + 1 < runs_.size() ? runs_[i + 1].begin : size(), runs_[i].place);
  }
  const auto column = [&](size_t v) {
    std::vector<int64_t> values(size());
    for (size_t entry = 0; entry < size(); ++entry) values[entry] = sums_[entry * stride_ + v];
    return values;
  };
  found.count = column(0);
  for (size_t v = 1; v < stride_; ++v) found.values.push_back(column(v));
  return found;
}

}  // namespace dctx
