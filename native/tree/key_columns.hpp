#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace dctx {

enum class IntType : uint8_t { I8, U8, I16, U16, I32, U32, I64, U64 };

// A borrowed integer column of any width.
struct KeyColumn {
  const void* data;
  IntType type;
};

// Key columns of one table, the first the most significant.
struct KeyColumns {
  std::vector<KeyColumn> columns;
  size_t rows = 0;
};

template <class Visitor>
auto visit_column(const KeyColumn& column, Visitor&& visitor) {
  switch (column.type) {
    case IntType::I8:
      return visitor(static_cast<const int8_t*>(column.data));
    case IntType::U8:
      return visitor(static_cast<const uint8_t*>(column.data));
    case IntType::I16:
      return visitor(static_cast<const int16_t*>(column.data));
    case IntType::U16:
      return visitor(static_cast<const uint16_t*>(column.data));
    case IntType::I32:
      return visitor(static_cast<const int32_t*>(column.data));
    case IntType::U32:
      return visitor(static_cast<const uint32_t*>(column.data));
    case IntType::I64:
      return visitor(static_cast<const int64_t*>(column.data));
    case IntType::U64:
      break;
  }
  return visitor(static_cast<const uint64_t*>(column.data));
}

// Smallest and largest of at least one value, in a loop that compilers vectorise.
template <class T>
std::pair<T, T> min_max(const T* values, size_t rows) {
  T low = values[0];
  T high = values[0];
  for (size_t i = 1; i < rows; ++i) {
    low = values[i] < low ? values[i] : low;
    high = values[i] > high ? values[i] : high;
  }
  return {low, high};
}

// Row numbers are handed out as int32.
inline void check_row_count(size_t rows) {
  if (rows > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw std::invalid_argument("more than 2^31 - 1 rows");
  }
}

// How the columns of a table are packed into as few 64-bit words as their value ranges need.
// Packed keys are equal exactly when the rows are, and compare (word 0 first) in row order.
class KeyPlan {
 public:
  explicit KeyPlan(const KeyColumns& table);

  size_t words() const { return word_bits_.size(); }
  int word_bits(size_t word) const { return word_bits_[word]; }
  // Bits of the last column packed into a word: its least significant ones.
  int last_column_bits(size_t word) const { return last_column_bits_[word]; }

  // Packs rows [first, first + count) of the planned table: out[i * words() + word].
  void pack(const KeyColumns& table, size_t first, size_t count, uint64_t* out) const;
  // One word of every row.
  void pack_word(const KeyColumns& table, size_t word, std::vector<uint64_t>& out) const;
  // The same for another table with as many columns, of any integer types. in_range[i] is 0 where
  // a value lies outside the planned range, so that no planned row can equal it.
  void pack_other(const KeyColumns& table, size_t first, size_t count, uint64_t* out,
                  uint8_t* in_range) const;

 private:
  __extension__ using Wide = __int128;  // holds int64 and uint64 values alike

  struct Part {
    size_t column;
    size_t word;
    int shift;
    Wide min;
    Wide max;
  };

  std::vector<Part> parts_;
  std::vector<int> word_bits_;
  std::vector<int> last_column_bits_;
};

}  // namespace dctx
