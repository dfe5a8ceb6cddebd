#include "tree/align_replaced.hpp"

namespace dctx {
namespace {

NodeKind kind(const AlignSide& side, const AlignNames& names, int32_t node) {
  return static_cast<NodeKind>(names.kind[side.tree.name[node]]);
}

// The node itself or, of API calls, what made them.
int32_t caller(const AlignSide& side, const AlignNames& names, int32_t node) {
  while (node != side.top() && kind(side, names, node) == NodeKind::Call) node = side.parent(node);
  return node;
}

// The only kernel right below the node without a partner; -1 when there are none or several.
int32_t only_kernel(const AlignSide& side, const AlignNames& names, int32_t node) {
  int32_t found = -1;
  for (const int32_t* c = side.children_begin(node); c != side.children_end(node); ++c) {
    if (side.partner[*c] >= 0 || kind(side, names, *c) != NodeKind::Kernel) continue;
    if (found >= 0) return -1;
    found = *c;
  }
  return found;
}

}  // namespace

void pair_replaced(AlignSide& base, AlignSide& target, const AlignNames& names) {
  for (size_t n = 0; n < base.size(); ++n) {
    const auto b = static_cast<int32_t>(n);
    const int32_t t = base.partner[b];
    if (t < 0) continue;
    const int32_t above = caller(base, names, b);
    if (above == base.top() || kind(base, names, above) != NodeKind::Operator) continue;
    if (base.partner[above] != caller(target, names, t)) continue;
    const int32_t old = only_kernel(base, names, b), now = only_kernel(target, names, t);
    if (old < 0 || now < 0) continue;
    base.partner[old] = now;
    target.partner[now] = old;
    base.replaced[old] = true;
  }
}

}  // namespace dctx
