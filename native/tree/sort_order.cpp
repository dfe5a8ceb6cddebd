#include "tree/sort_order.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace dctx {
namespace {

constexpr int kMaxDigitBits = 11;  // 2048 write positions stay in the first-level caches
constexpr size_t kMaxBuckets = size_t{1} << kMaxDigitBits;
constexpr size_t kMaxRuns = 16;  // merging more of them takes as long as a radix sort

struct Digit {
  int shift;
  uint64_t mask;
  std::array<uint32_t, kMaxBuckets> counts;
};

// The pairs being sorted. Rows are 0, 1, 2, … while `rows` is empty.
class Pairs {
 public:
  Pairs(std::vector<uint64_t>&& keys, std::vector<uint32_t>&& rows)
      : keys_(std::move(keys)), rows_(std::move(rows)) {}

  std::vector<uint32_t> take_rows() {
    if (rows_.empty()) {
      rows_.resize(keys_.size());
      std::iota(rows_.begin(), rows_.end(), uint32_t{0});
    }
    return std::move(rows_);
  }

  // Sorts by the low `bits` bits. Traces are often written in time order, or a few such tables one
  // after the other: then the low `time_bits` bits, if not the whole keys, form few ascending runs.
  void sort(int bits, int time_bits) {
    if (merge_runs(bits)) return;
    const int sorted_bits = time_bits < bits && merge_runs(time_bits) ? time_bits : 0;
    radix_sort(sorted_bits, bits);
  }

 private:
  uint32_t row(size_t i) const { return rows_.empty() ? static_cast<uint32_t>(i) : rows_[i]; }

  void swap(std::vector<uint64_t>& keys, std::vector<uint32_t>& rows) {
    keys_.swap(keys);
    rows_.swap(rows);
    rows.resize(rows_.size());
  }

  // Starts of the runs that ascend in the low bits, and the end; empty when there are too many.
  std::vector<size_t> find_runs(uint64_t mask) const {
    std::vector<size_t> bounds{0};
    for (size_t i = 1; i < keys_.size(); ++i) {
      if ((keys_[i] & mask) >= (keys_[i - 1] & mask)) continue;
      if (bounds.size() == kMaxRuns) return {};
      bounds.push_back(i);
    }
    bounds.push_back(keys_.size());
    return bounds;
  }

  bool merge_runs(int bits) {
    const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    std::vector<size_t> bounds = find_runs(mask);
    if (bounds.empty()) return false;
    if (bounds.size() == 2) return true;
    std::vector<uint64_t> keys(keys_.size());
    std::vector<uint32_t> rows(keys_.size());
    while (bounds.size() > 2) {
      std::vector<size_t> merged{0};
      for (size_t r = 0; r + 1 < bounds.size(); r += 2) {
        const size_t end = bounds[std::min(r + 2, bounds.size() - 1)];
        merge(bounds[r], bounds[r + 1], end, mask, keys.data(), rows.data());
        merged.push_back(end);
      }
      swap(keys, rows);
      bounds.swap(merged);
    }
    return true;
  }

  void merge(size_t left, size_t middle, size_t end, uint64_t mask, uint64_t* keys,
             uint32_t* rows) const {
    size_t right = middle;
    for (size_t to = left; to < end; ++to) {
      const bool take_right =
          left == middle || (right < end && (keys_[right] & mask) < (keys_[left] & mask));
      const size_t from = take_right ? right : left;
      right += take_right ? 1 : 0;
      left += take_right ? 0 : 1;
      keys[to] = keys_[from];
      rows[to] = row(from);
    }
  }

  std::vector<Digit> digits_of(int first_bit, int bits) const {
    const int passes = (bits - first_bit + kMaxDigitBits - 1) / kMaxDigitBits;
    std::vector<Digit> digits(static_cast<size_t>(passes));
    for (int p = 0, shift = first_bit; p < passes; ++p) {
      const int width = (bits - shift + passes - p - 1) / (passes - p);
      digits[static_cast<size_t>(p)] = {shift, (uint64_t{1} << width) - 1, {}};
      shift += width;
    }
    for (const uint64_t key : keys_) {
      for (Digit& digit : digits) ++digit.counts[(key >> digit.shift) & digit.mask];
    }
    const auto constant = [&](const Digit& digit) {
      return digit.counts[(keys_[0] >> digit.shift) & digit.mask] == keys_.size();
    };
    digits.erase(std::remove_if(digits.begin(), digits.end(), constant), digits.end());
    return digits;
  }

  // Sorts by the bits [first_bit, bits), least significant digit first; stable.
  void radix_sort(int first_bit, int bits) {
    const size_t n = keys_.size();
    std::vector<Digit> digits = digits_of(first_bit, bits);
    if (digits.empty()) return;
    std::vector<uint64_t> keys(digits.size() > 1 ? n : 0);
    std::vector<uint32_t> rows(n);
    for (size_t p = 0; p < digits.size(); ++p) {
      Digit& digit = digits[p];
      uint32_t position = 0;
      for (uint32_t& count : digit.counts) {
        const uint32_t size = count;
        count = position;
        position += size;
      }
      const bool last = p + 1 == digits.size();  // nobody reads the keys after it
      for (size_t i = 0; i < n; ++i) {
        const uint64_t key = keys_[i];
        const uint32_t to = digit.counts[(key >> digit.shift) & digit.mask]++;
        if (!last) keys[to] = key;
        rows[to] = row(i);
      }
      if (last) {
        rows_.swap(rows);
      } else {
        swap(keys, rows);
      }
    }
  }

  std::vector<uint64_t> keys_;
  std::vector<uint32_t> rows_;
};

}  // namespace

bool is_sorted(const KeyColumns& table) {
  constexpr size_t kBlock = 4096;
  std::vector<uint8_t> less(kBlock);  // per pair of neighbours: decided by an earlier column
  for (size_t first = 0; first + 1 < table.rows; first += kBlock) {
    const size_t count = std::min(kBlock, table.rows - 1 - first);
    std::fill(less.begin(), less.end(), uint8_t{0});
    bool sorted = true;
    for (size_t c = 0; c < table.columns.size() && sorted; ++c) {
      visit_column(table.columns[c], [&](const auto* values) {
        values += first;
        bool down = false;
        for (size_t i = 0; i < count; ++i) {
          down |= less[i] == 0 && values[i] > values[i + 1];
          less[i] = static_cast<uint8_t>(less[i] | (values[i] < values[i + 1] ? 1 : 0));
        }
        sorted = !down;
      });
    }
    if (!sorted) return false;
  }
  return true;
}

std::vector<uint32_t> sort_order(std::vector<uint64_t>&& keys, int bits) {
  check_row_count(keys.size());
  Pairs pairs(std::move(keys), {});
  pairs.sort(bits, bits);
  return pairs.take_rows();
}

std::vector<uint32_t> sort_order(const KeyColumns& table) {
  if (table.columns.empty()) throw std::invalid_argument("no key columns");
  check_row_count(table.rows);
  std::vector<uint32_t> rows;
  if (is_sorted(table)) {
    rows.resize(table.rows);
    std::iota(rows.begin(), rows.end(), uint32_t{0});
    return rows;
  }
  const KeyPlan plan(table);
  for (size_t word = plan.words(); word-- > 0;) {
    std::vector<uint64_t> keys;
    plan.pack_word(table, word, keys);
    if (!rows.empty()) {
      std::vector<uint64_t> gathered(rows.size());
      for (size_t i = 0; i < rows.size(); ++i) gathered[i] = keys[rows[i]];
      keys.swap(gathered);
    }
    Pairs pairs(std::move(keys), std::move(rows));
    pairs.sort(plan.word_bits(word), plan.last_column_bits(word));
    rows = pairs.take_rows();
  }
  return rows;
}

}  // namespace dctx
