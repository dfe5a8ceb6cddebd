#include "tree/align.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tree/align_sides.hpp"
#include "tree/hash.hpp"

namespace dctx {
namespace {

constexpr int kRounds = 4;
constexpr double kAlike = 0.5;
constexpr int32_t kNear = 32;            // siblings compared where there are very many
constexpr size_t kAllSiblings = 65'536;  // pairs of siblings up to which all are compared
constexpr size_t kMarks = size_t{1} << 21;
constexpr int kFarthest = 10'000;  // levels climbed for a common ancestor

// A node without partner under the key by which it may find one.
struct Seeker {
  uint64_t group;
  uint64_t key;
  int32_t node;
  bool operator<(const Seeker& other) const {
    return std::tie(group, key, node) < std::tie(other.group, other.key, other.node);
  }
};

class Aligner {
 public:
  Aligner(const AlignTree& base, const AlignTree& target, const AlignNames& names)
      : base_(base, names), target_(target, names), layer_(names.layer), similarity_(names) {}

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
      sort_common();
      for_equal_groups([&](const Range& left, const Range& right) { pair_group(left, right); });
      pair_below();
    }
  }

  using Range = std::pair<const Seeker*, const Seeker*>;

  // Sorts the seekers of both sides, without most of those that no other one of the same group and
  // key looks for: sorting is what takes the time.
  void sort_common() {
    keep_common(left_, right_);
    keep_common(right_, left_);
    std::sort(left_.begin(), left_.end());
    std::sort(right_.begin(), right_.end());
  }

  void keep_common(const std::vector<Seeker>& of, std::vector<Seeker>& from) {
    common_.assign(kMarks, false);
    const auto mark = [](const Seeker& s) {
      return static_cast<size_t>(mix_bits(mix_bits(s.group) ^ s.key) % kMarks);
    };
    for (const Seeker& s : of) common_[mark(s)] = true;
    const auto alone = [&](const Seeker& s) { return !common_[mark(s)]; };
    from.erase(std::remove_if(from.begin(), from.end(), alone), from.end());
  }

  // Calls work(left, right) for the seekers of both (sorted) sides with the same group and key.
  template <class Work>
  void for_equal_groups(Work&& work) const {
    for (size_t i = 0, j = 0; i < left_.size() && j < right_.size();) {
      const size_t i_end = end_of(left_, i), j_end = end_of(right_, j);
      const auto l = std::tie(left_[i].group, left_[i].key);
      const auto r = std::tie(right_[j].group, right_[j].key);
      if (l == r) {
        work(Range{&left_[i], left_.data() + i_end}, Range{&right_[j], right_.data() + j_end});
      }
      const bool take_left = !(r < l), take_right = !(l < r);
      if (take_left) i = i_end;
      if (take_right) j = j_end;
    }
  }

  void pair_group(const Range& left, const Range& right) {
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
    const std::vector<int32_t> left = unpaired(base_, b), right = unpaired(target_, t);
    if (left.empty() || right.empty()) return;
    std::vector<Likeness> found;
    const bool all = left.size() * right.size() <= kAllSiblings;
    const auto sizes =
        std::pair{static_cast<int32_t>(left.size()), static_cast<int32_t>(right.size())};
    for (int32_t i = 0; i < sizes.first; ++i) {
      const int32_t from = all ? 0 : std::max(0, i - kNear);
      const int32_t to = all ? sizes.second : std::min(sizes.second, i + kNear);
      for (int32_t j = from; j < to; ++j) {
        const double score = likeness(left[i], right[j]);
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

  static std::vector<int32_t> unpaired(const AlignSide& side, int32_t node) {
    std::vector<int32_t> found;
    for (const int32_t* c = side.children_begin(node); c != side.children_end(node); ++c) {
      if (side.partner[*c] < 0) found.push_back(*c);
    }
    return found;
  }

  double likeness(int32_t b, int32_t t) {
    const int32_t before = base_.tree.name[b], after = target_.tree.name[t];
    if (layer_[before] != layer_[after]) return 0;
    const bool leaf = base_.subtree(b) == 1;
    if (leaf != (target_.subtree(t) == 1)) return 0;
    const double name = similarity_(before, after);
    const double place = same_place(b, t) ? 1 : 0;
    if (leaf) return 0.75 * name + 0.25 * place;
    const std::vector<uint32_t> left = base_.names_below(b), right = target_.names_below(t);
    // One that holds the other's name is a frame around it, not the same under another name.
    if (std::binary_search(right.begin(), right.end(), static_cast<uint32_t>(before)) ||
        std::binary_search(left.begin(), left.end(), static_cast<uint32_t>(after))) {
      return 0;
    }
    return 0.4 * name + 0.4 * dice(left, right) + 0.2 * place;
  }

  // The siblings right before them are partners, or there are none.
  bool same_place(int32_t b, int32_t t) const {
    const int32_t before = previous(base_, b), other = previous(target_, t);
    if (before < 0 || other < 0) return before == other;
    return base_.partner[before] == other;
  }

  static int32_t previous(const AlignSide& side, int32_t node) {
    const int32_t above = side.parent(node);
    const int32_t* at =
        std::lower_bound(side.children_begin(above), side.children_end(above), node);
    return at == side.children_begin(above) ? -1 : at[-1];
  }

  // Subtrees that went elsewhere: the same whole subtree, the same number of times on both sides.
  // Then single ones of a name, with edits in them.
  void pair_moved() {
    for (const bool whole : {true, false}) {
      wanderers(base_, whole, left_);
      wanderers(target_, whole, right_);
      sort_common();
      std::vector<std::pair<int32_t, int32_t>> found;
      for_equal_groups([&](const Range& left, const Range& right) {
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

  static size_t end_of(const std::vector<Seeker>& list, size_t i) {
    size_t end = i;
    while (end < list.size() && list[end].group == list[i].group && list[end].key == list[i].key) {
      ++end;
    }
    return end;
  }

  AlignSide base_, target_;
  const uint8_t* layer_;
  NameSimilarity similarity_;
  std::vector<std::pair<int32_t, int32_t>> pending_;
  std::vector<Seeker> left_, right_;
  std::vector<bool> common_;  // by mark of group and key
  size_t pairs_ = 0;
};

// The base's node of the nearest pair above both places of a pair.
int32_t common_above(const AlignSide& base, const AlignSide& target, int32_t b, int32_t t) {
  int32_t at = base.parent(b);
  for (int level = 0; at != base.top() && level < kFarthest; ++level) {
    const int32_t other = base.partner[at];
    if (other >= 0 && target.is_below(t, other)) return at;
    at = base.parent(at);
  }
  return base.top();
}

class Merger {
 public:
  Merger(const AlignSide& base, const AlignSide& target) : base_(base), target_(target) {
    for (size_t t = 0; t < target.size(); ++t) add(target.partner[t], static_cast<int32_t>(t));
    for (size_t b = 0; b < base.size(); ++b) {
      if (base.partner[b] < 0) add(static_cast<int32_t>(b), -1);
    }
    base_row_.assign(base.size() + 1, -1);
    target_row_.assign(target.size() + 1, -1);
    for (size_t row = 0; row < rows_.base.size(); ++row) {
      if (rows_.base[row] >= 0) base_row_[rows_.base[row]] = static_cast<int32_t>(row);
      if (rows_.target[row] >= 0) target_row_[rows_.target[row]] = static_cast<int32_t>(row);
    }
  }

  MergedTree run() {
    for (size_t row = 0; row < rows_.base.size(); ++row) place(row);
    return in_pre_order();
  }

 private:
  void add(int32_t b, int32_t t) {
    rows_.base.push_back(b);
    rows_.target.push_back(t);
    rows_.parent.push_back(-1);
    rows_.kind.push_back(0);
  }

  void place(size_t row) {
    const int32_t b = rows_.base[row], t = rows_.target[row];
    MatchKind kind;
    if (t < 0) {
      kind = MatchKind::BaseOnly;
      rows_.parent[row] = base_row_[base_.parent(b)];
    } else if (b < 0) {
      kind = MatchKind::TargetOnly;
      rows_.parent[row] = target_row_[target_.parent(t)];
    } else if (base_.partner[base_.parent(b)] != target_.parent(t)) {
      kind = MatchKind::Moved;
      rows_.parent[row] = base_row_[common_above(base_, target_, b, t)];
    } else {
      kind = base_.tree.key[b] == target_.tree.key[t]     ? MatchKind::Same
             : base_.tree.name[b] == target_.tree.name[t] ? MatchKind::Normalised
                                                          : MatchKind::Renamed;
      rows_.parent[row] = base_row_[base_.parent(b)];
    }
    rows_.kind[row] = static_cast<uint8_t>(kind);
  }

  // Siblings as in the target, then those of the base.
  MergedTree in_pre_order() const {
    const size_t count = rows_.base.size();
    std::vector<int32_t> next(count, -1), child(count + 1, -1);
    for (size_t row = count; row-- > 0;) {
      const size_t above = rows_.parent[row] < 0 ? count : static_cast<size_t>(rows_.parent[row]);
      next[row] = child[above];
      child[above] = static_cast<int32_t>(row);
    }
    MergedTree out;
    std::vector<std::pair<int32_t, int32_t>> pending;  // row, row of the parent in the result
    if (count > 0) pending.emplace_back(child[count], -1);
    while (!pending.empty()) {
      const auto [row, above] = pending.back();
      pending.pop_back();
      if (next[row] >= 0) pending.emplace_back(next[row], above);
      const auto id = static_cast<int32_t>(out.base.size());
      out.base.push_back(rows_.base[row]);
      out.target.push_back(rows_.target[row]);
      out.parent.push_back(above);
      out.kind.push_back(rows_.kind[row]);
      if (child[row] >= 0) pending.emplace_back(child[row], id);
    }
    return out;
  }

  const AlignSide& base_;
  const AlignSide& target_;
  MergedTree rows_;
  std::vector<int32_t> base_row_, target_row_;  // -1 for those above the roots
};

// An order of trees that does not depend on their roles.
bool comes_first(const AlignTree& a, const AlignTree& b) {
  if (a.size != b.size) return a.size < b.size;
  for (const auto column : {&AlignTree::parent, &AlignTree::key, &AlignTree::name}) {
    const auto [x, y] = std::mismatch(a.*column, a.*column + a.size, b.*column);
    if (x != a.*column + a.size) return *x < *y;
  }
  return true;
}

}  // namespace

MergedTree align_trees(const AlignTree& base, const AlignTree& target, const AlignNames& names) {
  const bool kept = comes_first(base, target);
  Aligner aligner(kept ? base : target, kept ? target : base, names);
  aligner.run();
  MergedTree merged = Merger(aligner.base(), aligner.target()).run();
  if (kept) return merged;
  std::swap(merged.base, merged.target);
  for (uint8_t& kind : merged.kind) {
    if (kind <= static_cast<uint8_t>(MatchKind::TargetOnly)) kind = kind == 0 ? 1 : 0;
  }
  return merged;
}

}  // namespace dctx
