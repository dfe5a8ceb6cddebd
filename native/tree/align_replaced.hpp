#pragma once
#include "tree/align_sides.hpp"

namespace dctx {

// Makes partners of unlike kernels of the same operator, where each is the only one of it without a
// partner: another kernel does the operator's work. Comes after all other pairing.
void pair_replaced(AlignSide& base, AlignSide& target, const AlignNames& names);

}  // namespace dctx
