#include "tree/key_columns.hpp"

#include <algorithm>
#include <type_traits>

namespace dctx {
namespace {

template <class T>
uint64_t low_bits(T value) {
  return static_cast<uint64_t>(value);  // sign extends: differences are exact modulo 2^64
}

int bits_for(uint64_t range) {
  int bits = 0;
  for (; range != 0; range >>= 1) ++bits;
  return bits;
}

}  // namespace

KeyPlan::KeyPlan(const KeyColumns& table) {
  word_bits_.push_back(0);
  for (size_t c = 0; c < table.columns.size(); ++c) {
    Part part{c, 0, 0, 0, 0};
    if (table.rows > 0) {
      visit_column(table.columns[c], [&](const auto* values) {
        const auto [low, high] = min_max(values, table.rows);
        part.min = static_cast<Wide>(low);
        part.max = static_cast<Wide>(high);
      });
    }
    const int bits = bits_for(static_cast<uint64_t>(part.max - part.min));
    if (word_bits_.back() + bits > 64) word_bits_.push_back(0);
    part.word = word_bits_.size() - 1;
    part.shift = bits;  // the bits it takes; made a shift below, when all are known
    word_bits_.back() += bits;
    parts_.push_back(part);
  }
  std::vector<int> left = word_bits_;
  last_column_bits_.assign(words(), 0);
  for (Part& part : parts_) {
    if (part.shift > 0) last_column_bits_[part.word] = part.shift;
    left[part.word] -= part.shift;
    part.shift = left[part.word];
  }
}

void KeyPlan::pack(const KeyColumns& table, size_t first, size_t count, uint64_t* out) const {
  const size_t stride = words();
  std::fill(out, out + count * stride, uint64_t{0});
  for (const Part& part : parts_) {
    if (part.max == part.min) continue;
    const auto base = static_cast<uint64_t>(part.min);
    uint64_t* const to = out + part.word;
    visit_column(table.columns[part.column], [&](const auto* values) {
      values += first;
      for (size_t i = 0; i < count; ++i) {
        to[i * stride] |= (low_bits(values[i]) - base) << part.shift;
      }
    });
  }
}

void KeyPlan::pack_word(const KeyColumns& table, size_t word, std::vector<uint64_t>& out) const {
  out.assign(table.rows, 0);
  for (const Part& part : parts_) {
    if (part.word != word || part.max == part.min) continue;
    const auto base = static_cast<uint64_t>(part.min);
    visit_column(table.columns[part.column], [&](const auto* values) {
      for (size_t i = 0; i < table.rows; ++i) {
        out[i] |= (low_bits(values[i]) - base) << part.shift;
      }
    });
  }
}

void KeyPlan::pack_other(const KeyColumns& table, size_t first, size_t count, uint64_t* out,
                         uint8_t* in_range) const {
  const size_t stride = words();
  std::fill(out, out + count * stride, uint64_t{0});
  std::fill(in_range, in_range + count, uint8_t{1});
  for (const Part& part : parts_) {
    uint64_t* const to = out + part.word;
    const auto base = static_cast<uint64_t>(part.min);
    visit_column(table.columns[part.column], [&](const auto* values) {
      using Value = std::remove_const_t<std::remove_pointer_t<decltype(values)>>;
      using Limits = std::numeric_limits<Value>;
      if (part.max < static_cast<Wide>(Limits::min()) ||
          part.min > static_cast<Wide>(Limits::max())) {
        std::fill(in_range, in_range + count, uint8_t{0});
        return;
      }
      const auto low = static_cast<Value>(std::max(part.min, static_cast<Wide>(Limits::min())));
      const auto high = static_cast<Value>(std::min(part.max, static_cast<Wide>(Limits::max())));
      values += first;
      for (size_t i = 0; i < count; ++i) {
        const bool inside = values[i] >= low && values[i] <= high;
        in_range[i] = static_cast<uint8_t>(in_range[i] & static_cast<uint8_t>(inside));
        // A shift of 64 cannot occur with a non-zero difference; a zero one is skipped here.
        if (part.max != part.min) to[i * stride] |= (low_bits(values[i]) - base) << part.shift;
      }
    });
  }
}

}  // namespace dctx
