#include "tree/align_merge.hpp"

#include <utility>
#include <vector>

namespace dctx {
namespace {

constexpr int kFarthest = 10'000;  // levels climbed for a common ancestor

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
      kind = base_.replaced[b] ? MatchKind::Replaced : MatchKind::Moved;
      rows_.parent[row] = base_row_[common_above(base_, target_, b, t)];
    } else {
      kind = base_.replaced[b]                            ? MatchKind::Replaced
             : base_.tree.key[b] == target_.tree.key[t]   ? MatchKind::Same
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

}  // namespace

MergedTree merge(const AlignSide& base, const AlignSide& target) {
  return Merger(base, target).run();
}

}  // namespace dctx
