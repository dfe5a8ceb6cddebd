#pragma once
#include "tree/align_sides.hpp"

namespace dctx {

// How alike two nodes of one class are in name, content and place, from 0 to 1.
class AlignLikeness {
 public:
  AlignLikeness(const AlignSide& base, const AlignSide& target, const AlignNames& names)
      : base_(base), target_(target), layer_(names.layer), similarity_(names) {}
  double operator()(int32_t b, int32_t t);

 private:
  bool same_place(int32_t b, int32_t t) const;

  const AlignSide& base_;
  const AlignSide& target_;
  const uint8_t* layer_;
  NameSimilarity similarity_;
};

}  // namespace dctx
