#include "tree/tree_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "tree/key_columns.hpp"
#include "tree/sort_order.hpp"
#include "tree/stats.hpp"

namespace dctx {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

uint64_t sort_key(int64_t value, bool descending) {
  const uint64_t ascending = static_cast<uint64_t>(value) ^ kSignBit;
  return descending ? ~ascending : ascending;
}

uint64_t sort_key(double value, bool descending) {
  if (std::isnan(value)) return std::numeric_limits<uint64_t>::max();
  const double positive_zero = value + 0.0;
  uint64_t bits;
  std::memcpy(&bits, &positive_zero, sizeof bits);
  const uint64_t ascending = (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
  return descending ? ~ascending : ascending;
}

template <class Key>
std::vector<uint32_t> order_by(const Key* key, size_t nodes, bool descending) {
  std::vector<uint64_t> keys(nodes);
  for (size_t i = 0; i < nodes; ++i) keys[i] = sort_key(key[i], descending);
  return sort_order(std::move(keys), 64);
}

}  // namespace

TreeModel::TreeModel(std::vector<int32_t> parent) : parent_(std::move(parent)) {
  const size_t nodes = size();
  check_row_count(nodes);
  check_parents(parent_.data(), nodes);
  depth_.resize(nodes);
  first_child_.assign(nodes + 2, 0);
  for (size_t node = 0; node < nodes; ++node) {
    const int32_t up = parent_[node];
    depth_[node] = up < 0 ? 0 : depth_[static_cast<size_t>(up)] + 1;
    ++first_child_[(up < 0 ? nodes : static_cast<size_t>(up)) + 1];
  }
  std::partial_sum(first_child_.begin(), first_child_.end(), first_child_.begin());
  children_.resize(nodes);
  expanded_.assign(nodes, 0);
  std::vector<uint32_t> by_id(nodes);
  std::iota(by_id.begin(), by_id.end(), uint32_t{0});
  order_siblings(by_id);
}

size_t TreeModel::checked(int32_t node) const {
  if (node < 0 || static_cast<size_t>(node) >= size()) throw std::invalid_argument("no such node");
  return static_cast<size_t>(node);
}

void TreeModel::order_siblings(const std::vector<uint32_t>& order) {
  std::vector<int32_t> next(first_child_.begin(), first_child_.end() - 1);
  for (const uint32_t node : order) {
    const int32_t up = parent_[node];
    int32_t& place = next[up < 0 ? size() : static_cast<size_t>(up)];
    children_[static_cast<size_t>(place++)] = static_cast<int32_t>(node);
  }
  rebuild_rows();
}

void TreeModel::set_order(const int64_t* key, bool descending) {
  order_siblings(order_by(key, size(), descending));
}

void TreeModel::set_order(const double* key, bool descending) {
  order_siblings(order_by(key, size(), descending));
}

void TreeModel::set_filter(const uint8_t* match) {
  const size_t nodes = size();
  if (!expanded_unfiltered_.empty()) {
    expanded_.swap(expanded_unfiltered_);
    expanded_unfiltered_.clear();
  }
  shown_.clear();
  if (match != nullptr) {
    expanded_unfiltered_ = expanded_;
    // Upwards first: a match, or above one. Then downwards: below a match.
    shown_.assign(nodes, 0);
    std::vector<uint8_t> in_match(nodes, 0);
    for (size_t node = nodes; node-- > 0;) {
      if (match[node] != 0) shown_[node] = in_match[node] = 1;
      if (shown_[node] != 0 && parent_[node] >= 0) {
        const auto up = static_cast<size_t>(parent_[node]);
        shown_[up] = 1;
        expanded_[up] = 1;
      }
    }
    for (size_t node = 0; node < nodes; ++node) {
      if (parent_[node] >= 0 && in_match[static_cast<size_t>(parent_[node])] != 0) {
        shown_[node] = in_match[node] = 1;
      }
    }
  }
  rebuild_rows();
}

void TreeModel::expand(int32_t node) {
  const size_t at = checked(node);
  if (is_leaf(at) || expanded_[at] != 0) return;
  expanded_[at] = 1;
  refresh_block(node);
}

void TreeModel::collapse(int32_t node) {
  const size_t at = checked(node);
  if (expanded_[at] == 0) return;
  expanded_[at] = 0;
  refresh_block(node);
}

void TreeModel::expand_subtree(int32_t node) {
  std::vector<size_t> pending{checked(node)};
  while (!pending.empty()) {
    const size_t at = pending.back();
    pending.pop_back();
    if (is_leaf(at)) continue;
    expanded_[at] = 1;
    for (int32_t c = first_child_[at]; c < first_child_[at + 1]; ++c) {
      pending.push_back(static_cast<size_t>(children_[static_cast<size_t>(c)]));
    }
  }
  refresh_block(node);
}

void TreeModel::expand_all() {
  for (size_t node = 0; node < size(); ++node) expanded_[node] = is_leaf(node) ? 0 : 1;
  rebuild_rows();
}

void TreeModel::collapse_all() {
  std::fill(expanded_.begin(), expanded_.end(), uint8_t{0});
  rebuild_rows();
}

void TreeModel::reveal(int32_t node) {
  bool changed = false;
  for (int32_t up = parent_[checked(node)]; up >= 0; up = parent_[static_cast<size_t>(up)]) {
    uint8_t& open = expanded_[static_cast<size_t>(up)];
    changed = changed || open == 0;
    open = 1;
  }
  if (changed) rebuild_rows();
}

bool TreeModel::is_expanded(int32_t node) const { return expanded_[checked(node)] != 0; }

bool TreeModel::has_children(int32_t node) const {
  const size_t at = checked(node);
  if (shown_.empty()) return !is_leaf(at);
  return std::any_of(children_.begin() + first_child_[at], children_.begin() + first_child_[at + 1],
                     [&](int32_t child) { return shown_[static_cast<size_t>(child)] != 0; });
}

std::vector<int32_t> TreeModel::children(int32_t node) const {
  std::vector<int32_t> result = shown_children_reversed(checked(node));
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<int32_t> TreeModel::rows(size_t first, size_t count) const {
  first = std::min(first, rows_.size());
  count = std::min(count, rows_.size() - first);
  const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

int64_t TreeModel::row_of(int32_t node) const {
  checked(node);
  const auto at = std::find(rows_.begin(), rows_.end(), node);
  return at == rows_.end() ? -1 : at - rows_.begin();
}

std::vector<int32_t> TreeModel::shown_children_reversed(size_t node) const {
  std::vector<int32_t> result;
  result.reserve(static_cast<size_t>(first_child_[node + 1] - first_child_[node]));
  for (int32_t c = first_child_[node + 1]; c-- > first_child_[node];) {
    const int32_t child = children_[static_cast<size_t>(c)];
    if (shown_.empty() || shown_[static_cast<size_t>(child)] != 0) result.push_back(child);
  }
  return result;
}

// Appends the pending nodes, last first, each followed by what is visible below it.
void TreeModel::append_subtree(std::vector<int32_t> pending, std::vector<int32_t>& out) const {
  while (!pending.empty()) {
    const int32_t node = pending.back();
    pending.pop_back();
    out.push_back(node);
    const auto at = static_cast<size_t>(node);
    if (expanded_[at] == 0) continue;
    for (int32_t c = first_child_[at + 1]; c-- > first_child_[at];) {
      const int32_t child = children_[static_cast<size_t>(c)];
      if (shown_.empty() || shown_[static_cast<size_t>(child)] != 0) pending.push_back(child);
    }
  }
}

void TreeModel::rebuild_rows() {
  rows_.clear();
  append_subtree(shown_children_reversed(size()), rows_);
}

size_t TreeModel::block_end(size_t row) const {
  const int32_t depth = depth_[static_cast<size_t>(rows_[row])];
  size_t end = row + 1;
  while (end < rows_.size() && depth_[static_cast<size_t>(rows_[end])] > depth) ++end;
  return end;
}

// Brings the rows of a node's subtree up to date, when the node is visible.
void TreeModel::refresh_block(int32_t node) {
  const int64_t row = row_of(node);
  if (row < 0) return;
  std::vector<int32_t> block;
  append_subtree({node}, block);
  const auto first = rows_.begin() + row;
  const auto last =
      rows_.begin() + static_cast<std::ptrdiff_t>(block_end(static_cast<size_t>(row)));
  const auto kept = std::min(last - first, static_cast<std::ptrdiff_t>(block.size()));
  std::copy(block.begin(), block.begin() + kept, first);
  if (kept < last - first) {
    rows_.erase(first + kept, last);
  } else {
    rows_.insert(last, block.begin() + kept, block.end());
  }
}

template <class Key>
std::vector<int32_t> TreeModel::hot_path(int32_t node, const Key* key, double share) const {
  std::vector<int32_t> path{static_cast<int32_t>(checked(node))};
  for (;;) {
    const auto at = static_cast<size_t>(path.back());
    int32_t heaviest = -1;
    for (int32_t c = first_child_[at]; c < first_child_[at + 1]; ++c) {
      const int32_t child = children_[static_cast<size_t>(c)];
      if (!shown_.empty() && shown_[static_cast<size_t>(child)] == 0) continue;
      const Key weight = key[child];
      if (!(weight > Key{0})) continue;
      if (heaviest < 0 || weight > key[heaviest] || (weight == key[heaviest] && child < heaviest)) {
        heaviest = child;
      }
    }
    if (heaviest < 0) return path;
    if (static_cast<double>(key[heaviest]) < share * static_cast<double>(key[at])) return path;
    path.push_back(heaviest);
  }
}

template std::vector<int32_t> TreeModel::hot_path(int32_t, const int64_t*, double) const;
template std::vector<int32_t> TreeModel::hot_path(int32_t, const double*, double) const;

}  // namespace dctx
