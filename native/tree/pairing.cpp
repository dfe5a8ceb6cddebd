#include "tree/pairing.hpp"

#include <unordered_map>

#include "tree/sort_order.hpp"

namespace dctx {
namespace {

using Rows = std::vector<int32_t>;

uint64_t pair_of(int32_t group, int32_t name) {
  return static_cast<uint64_t>(static_cast<uint32_t>(group)) << 32 | static_cast<uint32_t>(name);
}

// Takes the latest open row off a stack; rows that the other stack gave away are skipped.
int32_t take_latest(Rows& open, const Rows& partner) {
  while (!open.empty()) {
    const int32_t row = open.back();
    open.pop_back();
    if (partner[static_cast<size_t>(row)] < 0) return row;
  }
  return -1;
}

}  // namespace

std::vector<int32_t> pair_marks(const MarkColumns& marks) {
  check_row_count(marks.rows);
  Rows partner(marks.rows, -1);
  std::unordered_map<int32_t, Rows> by_group;
  std::unordered_map<uint64_t, Rows> by_name;
  for (size_t i = 0; i < marks.rows; ++i) {
    const auto row = static_cast<int32_t>(i);
    const uint64_t key = pair_of(marks.group[i], marks.name[i]);
    if (marks.begins[i] != 0) {
      by_group[marks.group[i]].push_back(row);
      by_name[key].push_back(row);
      continue;
    }
    Rows& open = marks.name[i] < 0 ? by_group[marks.group[i]] : by_name[key];
    const int32_t begin = take_latest(open, partner);
    if (begin < 0) continue;
    partner[static_cast<size_t>(begin)] = row;
    partner[i] = begin;
  }
  return partner;
}

}  // namespace dctx
