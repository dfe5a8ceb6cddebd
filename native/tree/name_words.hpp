#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tree/align.hpp"

namespace dctx {

// How much two names of libraries say the same, from 0 to 1: the share of words in common, in
// order. Words are those behind the last `::` or `: `, in lower case, without digits at their
// ends: `aten::_BatchNormBackward0` is batch, norm, backward. Forward and backward must agree and
// do not count. Of kernels the words that most of them have do not count either, and what a
// general one computes (the words behind the first space) counts like its name.
class NameWords {
 public:
  explicit NameWords(const AlignNames& names) : names_(names), names_words_(names.size) {}
  // Both of one kind.
  double operator()(int32_t a, int32_t b);

 private:
  using Ids = std::vector<uint32_t>;
  struct Part {
    Ids words;
    bool backward = false;
  };
  struct Words {
    Part name, work;
    bool known = false, has_work = false;
  };
  const Words& of(int32_t name);
  Part part(std::string_view text, NodeKind kind);
  double in_common(const Part& a, const Part& b);

  AlignNames names_;
  std::vector<Words> names_words_;  // split when first asked for
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<size_t> row_;
};

}  // namespace dctx
