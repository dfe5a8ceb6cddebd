#include "tree/align_replaced.hpp"

#include <cstdint>
#include <vector>

namespace dctx {
namespace {

constexpr int32_t kNone = -1, kSeveral = -2;

NodeKind kind(const AlignSide& side, const AlignNames& names, int32_t node) {
  return static_cast<NodeKind>(names.kind[side.tree.name[node]]);
}

// By node: of an operator the only kernel without a partner that it launched itself, whatever the
// API calls between them; kNone, kSeveral.
std::vector<int32_t> only_kernels(const AlignSide& side, const AlignNames& names) {
  std::vector<int32_t> found(side.size(), kNone);
  for (size_t n = 0; n < side.size(); ++n) {
    const auto node = static_cast<int32_t>(n);
    if (side.partner[n] >= 0 || kind(side, names, node) != NodeKind::Kernel) continue;
    int32_t above = side.parent(node);
    while (above != side.top() && kind(side, names, above) == NodeKind::Call) {
      above = side.parent(above);
    }
    if (above == side.top() || kind(side, names, above) != NodeKind::Operator) continue;
    found[above] = found[above] == kNone ? node : kSeveral;
  }
  return found;
}

}  // namespace

void pair_replaced(AlignSide& base, AlignSide& target, const AlignNames& names) {
  const std::vector<int32_t> left = only_kernels(base, names), right = only_kernels(target, names);
  for (size_t n = 0; n < base.size(); ++n) {
    if (left[n] < 0 || base.partner[n] < 0) continue;
    const int32_t old = left[n], now = right[base.partner[n]];
    if (now < 0) continue;
    base.partner[old] = now;
    target.partner[now] = old;
    base.replaced[old] = true;
  }
}

}  // namespace dctx
