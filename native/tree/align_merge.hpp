#pragma once
#include "tree/align.hpp"
#include "tree/align_sides.hpp"

namespace dctx {

// One tree of both sides, whose nodes have found their partners.
MergedTree merge(const AlignSide& base, const AlignSide& target);

}  // namespace dctx
