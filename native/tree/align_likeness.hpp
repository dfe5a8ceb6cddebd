#pragma once
#include "tree/align_sides.hpp"
#include "tree/name_words.hpp"

namespace dctx {

// From here on two nodes count as one.
constexpr double kAlike = 0.5;

// How alike two nodes of one class are in name, content and place, from 0 to 1.
class AlignLikeness {
 public:
  AlignLikeness(const AlignSide& base, const AlignSide& target, const AlignNames& names)
      : base_(base), target_(target), names_(names), similarity_(names), words_(names) {}
  double operator()(int32_t b, int32_t t);

 private:
  double program(int32_t b, int32_t t, bool leaf);
  double library(int32_t b, int32_t t, bool leaf);
  bool same_place(int32_t b, int32_t t) const;

  const AlignSide& base_;
  const AlignSide& target_;
  AlignNames names_;
  NameSimilarity similarity_;
  NameWords words_;
};

}  // namespace dctx
