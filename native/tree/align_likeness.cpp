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
  if (names_.layer[before] != names_.layer[after]) return 0;
  const auto kind = static_cast<NodeKind>(names_.kind[before]);
  const bool leaf = base_.subtree(b) == 1;
  if (leaf != (target_.subtree(t) == 1) || kind == NodeKind::Fixed) return 0;
  return kind == NodeKind::Program ? program(b, t, leaf) : library(b, t, leaf);
}

double AlignLikeness::program(int32_t b, int32_t t, bool leaf) {
  const int32_t before = base_.tree.name[b], after = target_.tree.name[t];
  const double name = similarity_(before, after);
  const double place = same_place(b, t) ? 1 : 0;
  if (leaf) return name < kAlike ? 0 : 0.75 * name + 0.25 * place;
  const std::vector<uint32_t> left = base_.names_below(b), right = target_.names_below(t);
  // One that holds the other's name is a frame around it, not the same under another name.
  if (std::binary_search(right.begin(), right.end(), static_cast<uint32_t>(before)) ||
      std::binary_search(left.begin(), left.end(), static_cast<uint32_t>(after))) {
    return 0;
  }
  return 0.4 * name + 0.4 * dice(left, right) + 0.2 * place;
}

// Content and place alone say little: much of a program calls the same few operators in the same
// order, and most operators launch their kernels with the same call.
double AlignLikeness::library(int32_t b, int32_t t, bool leaf) {
  const double name = words_(base_.tree.name[b], target_.tree.name[t]);
  if (name < kAlike) return 0;
  const bool around =
      same_place(b, t) || (!leaf && dice(base_.names_below(b), target_.names_below(t)) >= kAlike);
  return 0.75 * name + (around ? 0.25 : 0);
}

// The siblings right before them are partners, or there are none.
bool AlignLikeness::same_place(int32_t b, int32_t t) const {
  const int32_t before = previous(base_, b), other = previous(target_, t);
  if (before < 0 || other < 0) return before == other;
  return base_.partner[before] == other;
}

}  // namespace dctx
