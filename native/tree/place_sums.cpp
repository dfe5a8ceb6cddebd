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

PlaceSums::PlaceSums(size_t groups, size_t values) : entry_of_(groups, 0), values_(values) {}

void PlaceSums::begin_run(int32_t place) {
  if (size() > 2 * merged_ + kUnmerged) merge();
  place_ = place;
  runs_.push_back({place, size()});
}

size_t PlaceSums::entry_of(int32_t group) {
  if (group < 0 || static_cast<size_t>(group) >= entry_of_.size()) {
    throw std::invalid_argument("there is no group " + std::to_string(group));
  }
  size_t& entry = entry_of_[static_cast<size_t>(group)];
  if (entry <= runs_.back().begin) {
    group_.push_back(group);
    count_.push_back(0);
    for (std::vector<int64_t>& column : values_) column.push_back(0);
    entry = size();
  }
  return entry - 1;
}

void PlaceSums::add(const int32_t* place, const int32_t* group,
                    const std::vector<const int64_t*>& values, size_t rows) {
  if (values.size() != values_.size()) {
    throw std::invalid_argument("expected " + std::to_string(values_.size()) +
                                " columns of values");
  }
  for (size_t i = 0; i < rows; ++i) {
    if (place[i] < 0) continue;
    if (place[i] != place_) begin_run(place[i]);
    const size_t entry = entry_of(group[i]);
    ++count_[entry];
    for (size_t v = 0; v < values.size(); ++v) values_[v][entry] += values[v][i];
  }
}

// Every place once, in order.
void PlaceSums::merge() {
  const auto repeats = [](const Run& a, const Run& b) { return a.place >= b.place; };
  if (std::adjacent_find(runs_.begin(), runs_.end(), repeats) != runs_.end()) {
    const std::vector<Run> runs = std::exchange(runs_, {});
    const std::vector<int32_t> groups = std::exchange(group_, {});
    const std::vector<int64_t> counts = std::exchange(count_, {});
    const auto values = std::exchange(values_, std::vector<std::vector<int64_t>>(values_.size()));
    std::vector<size_t> order(runs.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return runs[a].place < runs[b].place; });
    std::fill(entry_of_.begin(), entry_of_.end(), size_t{0});
    for (const size_t i : order) {
      if (runs_.empty() || runs_.back().place != runs[i].place) {
        runs_.push_back({runs[i].place, size()});
      }
      const size_t end = i + 1 < runs.size() ? runs[i + 1].begin : groups.size();
      for (size_t from = runs[i].begin; from < end; ++from) {
        const size_t into = entry_of(groups[from]);
        count_[into] += counts[from];
        for (size_t v = 0; v < values.size(); ++v) values_[v][into] += values[v][from];
      }
    }
  }
  merged_ = size();
  place_ = runs_.empty() ? -1 : runs_.back().place;
}

PlaceSums::Columns PlaceSums::take() {
  merge();
  Columns found;
  found.place.reserve(size());
  for (size_t i = 0; i < runs_.size(); ++i) {
    found.place.resize(i + 1 < runs_.size() ? runs_[i + 1].begin : size(), runs_[i].place);
  }
  found.group = std::exchange(group_, {});
  found.count = std::exchange(count_, {});
  found.values = std::exchange(values_, std::vector<std::vector<int64_t>>(values_.size()));
  runs_.clear();
  std::fill(entry_of_.begin(), entry_of_.end(), size_t{0});
  merged_ = 0;
  place_ = -1;
  return found;
}

}  // namespace dctx
