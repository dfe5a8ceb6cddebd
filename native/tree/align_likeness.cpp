#include "tree/align_likeness.hpp"

#include <algorithm>

namespace dctx {
namespace {

int32_t previous(const AlignSide& side, int32_t node) {
  const int32_t above = side.parent(node);
  const int32_t* at = std::lower_bound(side.children_begin(above), side.children_end(above), node);
  return at == side.children_begin(above) ? -1 : at[-1];
}

}  // namespace

double AlignLikeness::operator()(int32_t b, int32_t t) {
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
bool AlignLikeness::same_place(int32_t b, int32_t t) const {
  const int32_t before = previous(base_, b), other = previous(target_, t);
  if (before < 0 || other < 0) return before == other;
  return base_.partner[before] == other;
}

}  // namespace dctx
