#include "tree/sort_order.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace dctx {
namespace {

constexpr int kMaxDigitBits = 11;  // 2048 write positions stay in the first-level caches
constexpr size_t kMaxBuckets = size_t{1} << kMaxDigitBits;

struct Digit {
  int shift;
  uint64_t mask;
  std::array<uint32_t, kMaxBuckets> counts;
};

std::vector<Digit> digits_of(const std::vector<uint64_t>& keys, int bits) {
  const int passes = (bits + kMaxDigitBits - 1) / kMaxDigitBits;
  std::vector<Digit> digits(static_cast<size_t>(passes));
  for (int p = 0, shift = 0; p < passes; ++p) {
    const int width = (bits - shift + passes - p - 1) / (passes - p);
    digits[static_cast<size_t>(p)] = {shift, (uint64_t{1} << width) - 1, {}};
    shift += width;
  }
  for (const uint64_t key : keys) {
    for (Digit& digit : digits) ++digit.counts[(key >> digit.shift) & digit.mask];
  }
  const auto constant = [&](const Digit& digit) {
    return digit.counts[(keys[0] >> digit.shift) & digit.mask] == keys.size();
  };
  digits.erase(std::remove_if(digits.begin(), digits.end(), constant), digits.end());
  return digits;
}

// Orders the pairs (keys[i], rows[i]) by key; empty `rows` stands for 0, 1, 2, …
void radix_sort(std::vector<uint64_t>& keys, std::vector<uint32_t>& rows, int bits) {
  const size_t n = keys.size();
  std::vector<Digit> digits = digits_of(keys, bits);
  if (digits.empty()) return;
  std::vector<uint64_t> next_keys(digits.size() > 1 ? n : 0);
  std::vector<uint32_t> next_rows(n);
  for (size_t p = 0; p < digits.size(); ++p) {
    Digit& digit = digits[p];
    uint32_t position = 0;
    for (uint32_t& count : digit.counts) {
      const uint32_t size = count;
      count = position;
      position += size;
    }
    const bool with_keys = p + 1 < digits.size();
    const bool numbered = !rows.empty();
    for (size_t i = 0; i < n; ++i) {
      const uint64_t key = keys[i];
      const uint32_t to = digit.counts[(key >> digit.shift) & digit.mask]++;
      if (with_keys) next_keys[to] = key;
      next_rows[to] = numbered ? rows[i] : static_cast<uint32_t>(i);
    }
    if (with_keys) keys.swap(next_keys);
    if (!numbered) rows.resize(n);
    rows.swap(next_rows);
  }
}

std::vector<uint32_t> identity(size_t rows) {
  std::vector<uint32_t> order(rows);
  std::iota(order.begin(), order.end(), uint32_t{0});
  return order;
}

// Sorted by the columns from `first_column` on?
bool is_sorted_from(const KeyColumns& table, size_t first_column) {
  constexpr size_t kBlock = 4096;
  std::vector<int8_t> state(kBlock);  // per pair of neighbours: 0 equal so far, 1 less
  for (size_t first = 0; first + 1 < table.rows; first += kBlock) {
    const size_t count = std::min(kBlock, table.rows - 1 - first);
    std::fill(state.begin(), state.end(), int8_t{0});
    bool sorted = true;
    for (size_t c = first_column; c < table.columns.size() && sorted; ++c) {
      visit_column(table.columns[c], [&](const auto* values) {
        values += first;
        bool down = false;
        for (size_t i = 0; i < count; ++i) {
          down |= state[i] == 0 && values[i] > values[i + 1];
          state[i] = static_cast<int8_t>(state[i] | (values[i] < values[i + 1] ? 1 : 0));
        }
        sorted = !down;
      });
    }
    if (!sorted) return false;
  }
  return true;
}

}  // namespace

bool is_sorted(const KeyColumns& table) { return is_sorted_from(table, 0); }

std::vector<uint32_t> sort_order(std::vector<uint64_t>&& keys, int bits) {
  check_row_count(keys.size());
  std::vector<uint32_t> rows;
  if (!std::is_sorted(keys.begin(), keys.end())) radix_sort(keys, rows, bits);
  return rows.empty() ? identity(keys.size()) : rows;
}

std::vector<uint32_t> sort_order(const KeyColumns& table) {
  if (table.columns.empty()) throw std::invalid_argument("no key columns");
  check_row_count(table.rows);
  if (is_sorted(table)) return identity(table.rows);
  const KeyPlan plan(table);
  std::vector<uint64_t> keys;
  std::vector<uint32_t> rows;
  for (size_t word = plan.words(); word-- > 0;) {
    plan.pack_word(table, word, keys);
    if (!rows.empty()) {
      std::vector<uint64_t> gathered(rows.size());
      for (size_t i = 0; i < rows.size(); ++i) gathered[i] = keys[rows[i]];
      keys.swap(gathered);
    }
    radix_sort(keys, rows, plan.word_bits(word));
  }
  return rows.empty() ? identity(table.rows) : rows;
}

}  // namespace dctx
