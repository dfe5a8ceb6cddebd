#pragma once
#include <cstdint>
#include <vector>

#include "tree/key_columns.hpp"

namespace dctx {

bool is_sorted(const KeyColumns& table);

// Stable ascending order of the rows: a radix sort over the bits in which the keys differ.
std::vector<uint32_t> sort_order(const KeyColumns& table);

// The same for one key per row of which the low `bits` bits count; `keys` is used up.
std::vector<uint32_t> sort_order(std::vector<uint64_t>&& keys, int bits);

}  // namespace dctx
