#include "tree/align.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tree/align_likeness.hpp"
#include "tree/align_merge.hpp"
#include "tree/align_replaced.hpp"
#include "tree/align_seekers.hpp"
#include "tree/align_sides.hpp"

namespace dctx {
namespace {

constexpr int kRounds = 4;
constexpr int32_t kNear = 32;            // siblings compared where there are very many
constexpr size_t kAllSiblings = 65'536;  // pairs of siblings up to which all are compared

class Aligner {
 public:
  Aligner(const AlignTree& base, const AlignTree& target, const AlignNames& names)
      : base_(base, names),
        target_(target, names),
        names_(names),
        likeness_(base_, target_, names) {}

  void run() {
    pair(base_.top(), target_.top());
    pair_below();
    for (int round = 0; round < kRounds; ++round) {
      const size_t before = pairs_;
      for (const auto& [base_levels, target_levels] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
        pair_around(base_levels, target_levels);
        if (base_levels + target_levels == 0) pair_alike();
      }
      pair_moved();
      if (pairs_ == before) break;
    }
    pair_replaced(base_, target_, names_);
  }

  const AlignSide& base() const { return base_; }
  const AlignSide& target() const { return target_; }

 private:
  void pair(int32_t b, int32_t t) {
    base_.partner[b] = t;
    target_.partner[t] = b;
    ++pairs_;
    pending_.emplace_back(b, t);
  }

  // Pairs the children of pairs by identity, from the top down.
  void pair_below() {
    while (!pending_.empty()) {
      const auto [b, t] = pending_.back();
      pending_.pop_back();
      pair_children(b, t, base_.tree.key, target_.tree.key);
      pair_children(b, t, base_.tree.name, target_.tree.name);
    }
  }

  // Equal ones pair in their order.
  void pair_children(int32_t b, int32_t t, const int32_t* base_key, const int32_t* target_key) {
    collect(base_, b, base_key, left_);
    if (left_.empty()) return;
    collect(target_, t, target_key, right_);
    for (size_t i = 0, j = 0; i < left_.size() && j < right_.size();) {
      if (left_[i].key == right_[j].key) {
        pair(left_[i++].node, right_[j++].node);
      } else if (left_[i].key < right_[j].key) {
        ++i;
      } else {
        ++j;
      }
    }
  }

  static void collect(const AlignSide& side, int32_t node, const int32_t* key,
                      std::vector<Seeker>& out) {
    out.clear();
    for (const int32_t* c = side.children_begin(node); c != side.children_end(node); ++c) {
      if (side.partner[*c] < 0) out.push_back({0, static_cast<uint32_t>(key[*c]), *c});
    }
    std::sort(out.begin(), out.end());
  }

  // By node: the base's node of the nearest pair above.
  static std::vector<int32_t> anchors(const AlignSide& side, bool is_base) {
    std::vector<int32_t> found(side.size());
    for (size_t n = 0; n < side.size(); ++n) {
      const int32_t above = side.parent(static_cast<int32_t>(n));
      const bool paired = side.partner[above] >= 0;
      found[n] = !paired ? found[above] : (is_base ? above : side.partner[above]);
    }
    return found;
  }

  // Frames put in or taken out between a node and its caller: nodes of one name below the same
  // pair, one of the two right below a pair. `levels`: how many more pairs are climbed.
  void pair_around(int base_levels, int target_levels) {
    const std::vector<int32_t> base_anchor = anchors(base_, true);
    const std::vector<int32_t> target_anchor = anchors(target_, false);
    for (const bool whole : {true, false}) {
      seekers(base_, base_anchor, base_levels, target_levels, true, whole, left_);
      seekers(target_, target_anchor, target_levels, base_levels, false, whole, right_);
      groups_.sort_common(left_, right_);
      for_equal_groups(left_, right_, [&](const SeekerRange& left, const SeekerRange& right) {
        pair_group(left, right);
      });
      pair_below();
    }
  }

  void pair_group(const SeekerRange& left, const SeekerRange& right) {
    std::vector<int32_t> near_left, far_left, near_right, far_right;
    for (const Seeker* s = left.first; s != left.second; ++s) {
      (is_near(base_, s->node) ? near_left : far_left).push_back(s->node);
    }
    for (const Seeker* s = right.first; s != right.second; ++s) {
      (is_near(target_, s->node) ? near_right : far_right).push_back(s->node);
    }
    pair_in_order(near_left, near_right);
    pair_in_order(near_left, far_right);
    pair_in_order(far_left, near_right);
  }

  static bool is_near(const AlignSide& side, int32_t node) {
    return side.partner[side.parent(node)] >= 0;
  }

  void pair_in_order(const std::vector<int32_t>& left, const std::vector<int32_t>& right) {
    size_t j = 0;
    for (const int32_t b : left) {
      if (base_.partner[b] >= 0) continue;
      while (j < right.size() && target_.partner[right[j]] >= 0) ++j;
      if (j == right.size()) return;
      pair(b, right[j]);
    }
  }

  void seekers(const AlignSide& side, const std::vector<int32_t>& anchor, int levels, int others,
               bool is_base, bool whole, std::vector<Seeker>& out) const {
    out.clear();
    for (size_t n = 0; n < side.size(); ++n) {
      if (side.partner[n] >= 0) continue;
      const auto node = static_cast<int32_t>(n);
      // From farther away a single leaf says too little.
      if (levels + others > 0 && side.subtree(node) == 1) continue;
      int32_t at = anchor[n];
      for (int level = 0; level < levels && at != base_.top(); ++level) {
        at = is_base ? anchor[at] : anchor[base_.partner[at]];
      }
      out.push_back({static_cast<uint64_t>(at),
                     whole ? side.hash[n] : static_cast<uint64_t>(side.tree.name[n]), node});
    }
  }

  // Renamed ones: children of a pair that are alike in name, content and place.
  void pair_alike() {
    for (size_t n = 0; n <= base_.size(); ++n) {
      const auto b = static_cast<int32_t>(n);
      if (base_.partner[b] >= 0) pair_alike_children(b, base_.partner[b]);
    }
    pair_below();
  }

  struct Likeness {
    double score;
    int32_t i, j;
    bool operator<(const Likeness& other) const {
      if (score != other.score) return score > other.score;
      return std::make_tuple(std::abs(i - j), i, j) <
             std::make_tuple(std::abs(other.i - other.j), other.i, other.j);
    }
  };

  void pair_alike_children(int32_t b, int32_t t) {
    const std::vector<int32_t> left = base_.unpaired(b), right = target_.unpaired(t);
    if (left.empty() || right.empty()) return;
    std::vector<Likeness> found;
    const bool all = left.size() * right.size() <= kAllSiblings;
    const auto sizes =
        std::pair{static_cast<int32_t>(left.size()), static_cast<int32_t>(right.size())};
    for (int32_t i = 0; i < sizes.first; ++i) {
      const int32_t from = all ? 0 : std::max(0, i - kNear);
      const int32_t to = all ? sizes.second : std::min(sizes.second, i + kNear);
      for (int32_t j = from; j < to; ++j) {
        const double score = likeness_(left[i], right[j]);
        if (score >= kAlike) found.push_back({score, i, j});
      }
    }
    std::sort(found.begin(), found.end());
    for (const Likeness& like : found) {
      if (base_.partner[left[like.i]] < 0 && target_.partner[right[like.j]] < 0) {
        pair(left[like.i], right[like.j]);
      }
    }
  }

  // Subtrees that went elsewhere: the same whole subtree, the same number of times on both sides.
  // Then single ones of a name, with edits in them.
  void pair_moved() {
    for (const bool whole : {true, false}) {
      wanderers(base_, whole, left_);
      wanderers(target_, whole, right_);
      groups_.sort_common(left_, right_);
      std::vector<std::pair<int32_t, int32_t>> found;
      for_equal_groups(left_, right_, [&](const SeekerRange& left, const SeekerRange& right) {
        const auto count = left.second - left.first;
        if (count != right.second - right.first || (!whole && count != 1)) return;
        for (std::ptrdiff_t k = 0; k < count; ++k) {
          found.emplace_back(left.first[k].node, right.first[k].node);
        }
      });
      for (const auto& [b, t] : found) pair_if_alike(b, t);
    }
  }

  void pair_if_alike(int32_t b, int32_t t) {
    if (base_.partner[b] >= 0 || target_.partner[t] >= 0) return;  // with a larger subtree
    if (dice(base_.names_below(b), target_.names_below(t)) < kAlike) return;
    pair(b, t);
    pair_below();
  }

  // The larger subtrees come first.
  static void wanderers(const AlignSide& side, bool whole, std::vector<Seeker>& out) {
    out.clear();
    for (size_t n = 0; n < side.size(); ++n) {
      const auto node = static_cast<int32_t>(n);
      const size_t nodes = side.subtree(node);
      if (side.partner[n] >= 0 || nodes < 2) continue;
      if (whole) {
        out.push_back({~static_cast<uint64_t>(nodes), side.hash[n], node});
      } else {
        out.push_back({0, static_cast<uint64_t>(side.tree.name[n]), node});
      }
    }
  }

  AlignSide base_, target_;
  AlignNames names_;
  AlignLikeness likeness_;
  std::vector<std::pair<int32_t, int32_t>> pending_;
  std::vector<Seeker> left_, right_;
  SeekerGroups groups_;
  size_t pairs_ = 0;
};

}  // namespace

MergedTree align_trees(const AlignTree& base, const AlignTree& target, const AlignNames& names) {
  const bool kept = comes_first(base, target);
  Aligner aligner(kept ? base : target, kept ? target : base, names);
  aligner.run();
  MergedTree merged = merge(aligner.base(), aligner.target());
  if (kept) return merged;
  std::swap(merged.base, merged.target);
  for (uint8_t& kind : merged.kind) {
    if (kind <= static_cast<uint8_t>(MatchKind::TargetOnly)) kind = kind == 0 ? 1 : 0;
  }
  return merged;
}

}  // namespace dctx
