#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tree/align.hpp"

namespace dctx {

// The words of a name behind its last `::` or `: `, in lower case and order, without digits at
// their ends: `aten::_BatchNormBackward0` is batch, norm, backward. Of kernels without the words
// that most of them have.
std::vector<std::string> name_words(std::string_view name, NodeKind kind);

// How much two names of libraries say the same, from 0 to 1: the share of words in common, in
// order. Forward and backward must agree and do not count; of kernels what a general one
// computes (the words behind the first space) counts like its name.
double words_in_common(std::string_view a, std::string_view b, NodeKind kind);

}  // namespace dctx
