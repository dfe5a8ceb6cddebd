#include "tree/row_keys.hpp"

#include <algorithm>
#include <array>

#include "tree/key_table.hpp"

namespace dctx {
namespace {

constexpr size_t kBlock = KeyTable::kBlock;

// Keys of few bits index an array directly when it costs little beside the rows themselves.
bool fits_array(const KeyPlan& plan, size_t rows) {
  return plan.words() == 1 && plan.word_bits(0) < 31 &&
         (size_t{1} << plan.word_bits(0)) <= rows * 6 + 4096;
}

void check(const KeyColumns& table) {
  if (table.columns.empty()) throw std::invalid_argument("no key columns");
  check_row_count(table.rows);
}

}  // namespace

InternedRows intern_rows(const KeyColumns& table) {
  check(table);
  const KeyPlan plan(table);
  InternedRows result;
  result.ids.resize(table.rows);
  std::vector<uint64_t> keys(kBlock * plan.words());
  const auto note_new = [&](size_t row) {
    if (static_cast<size_t>(result.ids[row]) == result.first_rows.size()) {
      result.first_rows.push_back(static_cast<int64_t>(row));
    }
  };
  if (fits_array(plan, table.rows)) {
    std::vector<int32_t> id_of(size_t{1} << plan.word_bits(0), -1);
    for (size_t first = 0; first < table.rows; first += kBlock) {
      const size_t count = std::min(kBlock, table.rows - first);
      plan.pack(table, first, count, keys.data());
      for (size_t i = 0; i < count; ++i) {
        int32_t& id = id_of[keys[i]];
        if (id < 0) id = static_cast<int32_t>(result.first_rows.size());
        result.ids[first + i] = id;
        note_new(first + i);
      }
    }
    return result;
  }
  KeyTable ids(plan.words());
  for (size_t first = 0; first < table.rows; first += kBlock) {
    const size_t count = std::min(kBlock, table.rows - first);
    plan.pack(table, first, count, keys.data());
    ids.insert_block(keys.data(), count, result.ids.data() + first);
    for (size_t i = 0; i < count; ++i) note_new(first + i);
  }
  return result;
}

std::vector<int32_t> join_first(const KeyColumns& left, const KeyColumns& right) {
  check(left);
  check(right);
  if (left.columns.size() != right.columns.size()) {
    throw std::invalid_argument("left and right differ in their number of key columns");
  }
  std::vector<int32_t> result(left.rows, -1);
  if (right.rows == 0) return result;
  const KeyPlan plan(right);
  std::vector<uint64_t> keys(kBlock * plan.words());
  std::array<uint8_t, kBlock> in_range;

  if (fits_array(plan, right.rows)) {
    std::vector<int32_t> row_of(size_t{1} << plan.word_bits(0), -1);
    for (size_t first = 0; first < right.rows; first += kBlock) {
      const size_t count = std::min(kBlock, right.rows - first);
      plan.pack(right, first, count, keys.data());
      for (size_t i = 0; i < count; ++i) {
        int32_t& row = row_of[keys[i]];
        if (row < 0) row = static_cast<int32_t>(first + i);
      }
    }
    for (size_t first = 0; first < left.rows; first += kBlock) {
      const size_t count = std::min(kBlock, left.rows - first);
      plan.pack_other(left, first, count, keys.data(), in_range.data());
      for (size_t i = 0; i < count; ++i) {
        if (in_range[i] != 0) result[first + i] = row_of[keys[i]];
      }
    }
    return result;
  }

  KeyTable table(plan.words(), right.rows);
  std::vector<int32_t> row_of;
  row_of.reserve(right.rows);
  std::array<int32_t, kBlock> ids;
  for (size_t first = 0; first < right.rows; first += kBlock) {
    const size_t count = std::min(kBlock, right.rows - first);
    plan.pack(right, first, count, keys.data());
    table.insert_block(keys.data(), count, ids.data());
    for (size_t i = 0; i < count; ++i) {
      if (static_cast<size_t>(ids[i]) == row_of.size()) {
        row_of.push_back(static_cast<int32_t>(first + i));
      }
    }
  }
  for (size_t first = 0; first < left.rows; first += kBlock) {
    const size_t count = std::min(kBlock, left.rows - first);
    plan.pack_other(left, first, count, keys.data(), in_range.data());
    table.find_block(keys.data(), count, ids.data());
    for (size_t i = 0; i < count; ++i) {
      if (in_range[i] != 0 && ids[i] >= 0) {
        result[first + i] = row_of[static_cast<size_t>(ids[i])];
      }
    }
  }
  return result;
}

}  // namespace dctx
