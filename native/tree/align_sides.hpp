#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tree/align.hpp"

namespace dctx {

// A tree and what aligning it needs to know of every node.
class AlignSide {
 public:
  AlignSide(const AlignTree& tree, const AlignNames& names);

  size_t size() const { return tree.size; }
  // Above the roots.
  int32_t top() const { return static_cast<int32_t>(tree.size); }
  int32_t parent(int32_t node) const { return tree.parent[node] < 0 ? top() : tree.parent[node]; }
  bool is_below(int32_t node, int32_t above) const {
    return above == top() || (place[node] > place[above] && place[node] <= last[above]);
  }
  const int32_t* children_begin(int32_t node) const { return children.data() + first[node]; }
  const int32_t* children_end(int32_t node) const { return children.data() + first[node + 1]; }
  std::vector<int32_t> unpaired(int32_t node) const;  // children without a partner
  // Sorted names of the first nodes below.
  std::vector<uint32_t> names_below(int32_t node) const;
  size_t subtree(int32_t node) const { return static_cast<size_t>(last[node] - place[node]) + 1; }

  AlignTree tree;
  std::vector<int32_t> first;     // into children; the roots are those of top()
  std::vector<int32_t> children;  // by id
  std::vector<int32_t> place;     // in pre-order
  std::vector<int32_t> last;      // place of the last node below
  std::vector<int32_t> order;     // nodes by place
  std::vector<uint64_t> hash;     // of the subtree's names, whatever the order of siblings
  std::vector<int32_t> partner;   // -1 without one; that of top() is the other top()
  std::vector<bool> replaced;     // the partner does the same work, but is no other name of it
};

// How much two names have in common, from 0 to 1: the share of common sequences of three letters.
class NameSimilarity {
 public:
  explicit NameSimilarity(const AlignNames& names) : names_(names), grams_(names.size) {}
  double operator()(int32_t a, int32_t b);

 private:
  const std::vector<uint32_t>& grams(int32_t name);

  AlignNames names_;
  std::vector<std::vector<uint32_t>> grams_;  // sorted, made when asked for
};

// An order of trees that does not depend on their roles.
bool comes_first(const AlignTree& a, const AlignTree& b);

// 2 * common / (all), of two sorted lists.
double dice(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b);

}  // namespace dctx
