#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dctx {

// Which rows of a tree are visible, and in what order: the visible rows are one flat array, into
// which expanding splices and from which collapsing cuts. No recursion.
class TreeModel {
 public:
  // Parents precede children; -1 marks a root. Everything starts collapsed, siblings by id.
  explicit TreeModel(std::vector<int32_t> parent);

  size_t size() const { return parent_.size(); }

  // Keys of all nodes; ties by id, NaN last. What is expanded stays so.
  void set_order(const int64_t* key, bool descending);
  void set_order(const double* key, bool descending);

  // Shows matches, their ancestors and the descendants of matches; ancestors of matches are open
  // while the filter is on. Null removes the filter and brings back what was expanded before it.
  void set_filter(const uint8_t* match);

  void expand(int32_t node);
  void collapse(int32_t node);
  void expand_subtree(int32_t node);
  void expand_all();
  void collapse_all();
  void reveal(int32_t node);
  bool is_expanded(int32_t node) const;
  bool has_children(int32_t node) const;
  std::vector<int32_t> children(int32_t node) const;

  size_t row_count() const { return rows_.size(); }
  std::vector<int32_t> rows(size_t first, size_t count) const;
  int64_t row_of(int32_t node) const;

  // `node`, then the heaviest shown child as long as it is positive and has at least `share` of
  // its parent.
  template <class Key>
  std::vector<int32_t> hot_path(int32_t node, const Key* key, double share) const;

 private:
  size_t checked(int32_t node) const;
  bool is_leaf(size_t node) const { return first_child_[node] == first_child_[node + 1]; }
  void order_siblings(const std::vector<uint32_t>& order);
  void rebuild_rows();
  void append_subtree(std::vector<int32_t> pending, std::vector<int32_t>& out) const;
  std::vector<int32_t> shown_children_reversed(size_t node) const;
  size_t block_end(size_t row) const;
  void refresh_block(int32_t node);

  std::vector<int32_t> parent_;
  std::vector<int32_t> depth_;
  std::vector<int32_t> first_child_;  // into children_; the roots are at first_child_[size()]
  std::vector<int32_t> children_;
  std::vector<uint8_t> expanded_;
  std::vector<uint8_t> expanded_unfiltered_;  // kept while a filter is on, else empty
  std::vector<uint8_t> shown_;                // empty without a filter
  std::vector<int32_t> rows_;
};

}  // namespace dctx
