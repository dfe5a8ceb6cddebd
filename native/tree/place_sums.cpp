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

void PlaceSums::Entries::append(int32_t group) {
  if (size_ == blocks_.size() * kRows) {
    blocks_.push_back({std::vector<int32_t>(kRows), std::vector<int64_t>(kRows * width_)});
  }
  blocks_.back().group[size_++ % kRows] = group;
}

void PlaceSums::Entries::release(size_t entry) { blocks_[entry / kRows] = {}; }

PlaceSums::PlaceSums(size_t groups, size_t values)
    : values_(values), entry_of_(groups, 0), entries_(values) {}

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
    entries_.append(group);
    entry = size();
  }
  return entry - 1;
}

void PlaceSums::add(const int32_t* place, const int32_t* group,
                    const std::vector<const int64_t*>& values, size_t rows) {
  if (values.size() != values_) {
    throw std::invalid_argument("expected " + std::to_string(values_) + " columns of values");
  }
  for (size_t i = 0; i < rows; ++i) {
    if (place[i] < 0) continue;
    if (place[i] != place_) begin_run(place[i]);
    int64_t* row = entries_.row(entry_of(group[i]));
    ++*row;
    for (const int64_t* column : values) *++row += column[i];
  }
}

// Every place once, in order.
void PlaceSums::merge() {
  const auto repeats = [](const Run& a, const Run& b) { return a.place >= b.place; };
  if (std::adjacent_find(runs_.begin(), runs_.end(), repeats) != runs_.end()) {
    const std::vector<Run> runs = std::exchange(runs_, {});
    Entries entries = std::exchange(entries_, Entries(values_));
    std::vector<size_t> order(runs.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return runs[a].place < runs[b].place; });
    std::fill(entry_of_.begin(), entry_of_.end(), size_t{0});
    for (const size_t i : order) {
      if (runs_.empty() || runs_.back().place != runs[i].place) {
        runs_.push_back({runs[i].place, size()});
      }
      const size_t end = i + 1 < runs.size() ? runs[i + 1].begin : entries.size();
      for (size_t entry = runs[i].begin; entry < end; ++entry) {
        const int64_t* from = entries.row(entry);
        int64_t* into = entries_.row(entry_of(entries.group(entry)));
        for (size_t v = 0; v <= values_; ++v) into[v] += from[v];
      }
    }
  }
  merged_ = size();
  place_ = runs_.empty() ? -1 : runs_.back().place;
}

PlaceSums::Columns PlaceSums::take() {
  merge();
  const size_t rows = size();
  Columns found;
  found.place.reserve(rows);
  for (size_t i = 0; i < runs_.size(); ++i) {
    found.place.resize(i + 1 < runs_.size() ? runs_[i + 1].begin : rows, runs_[i].place);
  }
  found.group.reserve(rows);
  found.count.reserve(rows);
  found.values.resize(values_);
  for (std::vector<int64_t>& column : found.values) column.reserve(rows);
  for (size_t entry = 0; entry < rows; ++entry) {
    const int64_t* row = entries_.row(entry);
    found.group.push_back(entries_.group(entry));
    found.count.push_back(*row);
    for (std::vector<int64_t>& column : found.values) column.push_back(*++row);
    if (entries_.ends_block(entry)) entries_.release(entry);
  }
  entries_ = Entries(values_);
  runs_.clear();
  std::fill(entry_of_.begin(), entry_of_.end(), size_t{0});
  merged_ = 0;
  place_ = -1;
  return found;
}

}  // namespace dctx
