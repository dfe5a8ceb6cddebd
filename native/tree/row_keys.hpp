#pragma once
#include <cstdint>
#include <vector>

#include "tree/key_columns.hpp"

namespace dctx {

struct InternedRows {
  std::vector<int32_t> ids;         // per row, dense in order of first use
  std::vector<int64_t> first_rows;  // per id
};

InternedRows intern_rows(const KeyColumns& table);

// For each left row the first right row with equal keys, else -1.
std::vector<int32_t> join_first(const KeyColumns& left, const KeyColumns& right);

}  // namespace dctx
