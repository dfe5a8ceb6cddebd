#pragma once
// Columns that grow by the event; a column without a value takes no memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace dctx::trace_event {

enum class ColumnType : uint8_t { U8, I32, I64, F64 };

template <class T>
constexpr ColumnType column_type() {
  if constexpr (sizeof(T) == 1) return ColumnType::U8;
  if constexpr (sizeof(T) == 4) return ColumnType::I32;
  return std::is_integral_v<T> ? ColumnType::I64 : ColumnType::F64;
}

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, FreeMemory>;

class AnyColumn {
 public:
  AnyColumn(ColumnType type, bool texts) : holds_texts(texts), type_(type) {}
  virtual ~AnyColumn() = default;
  AnyColumn(const AnyColumn&) = delete;
  AnyColumn& operator=(const AnyColumn&) = delete;

  const bool holds_texts;  // its values are ids of texts
  ColumnType type() const { return type_; }
  virtual void fill(size_t rows) = 0;  // NULL in the rows from the last value on, if there is any
  virtual void map_ids(const std::vector<int32_t>& map) = 0;

  // nullptr when no row has a value.
  Memory take() {
    capacity_ = filled_ = 0;
    return std::move(memory_);
  }

 protected:
  // Growing large blocks moves pages, not bytes, where the C library can.
  void reserve(size_t rows, size_t width) {
    const size_t capacity = std::max<size_t>(rows, std::max<size_t>(512, capacity_ * 2));
    void* const grown = std::realloc(memory_.get(), capacity * width);
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(memory_.release());
    memory_.reset(grown);
    capacity_ = capacity;
  }

  Memory memory_;
  size_t capacity_ = 0;
  size_t filled_ = 0;

 private:
  ColumnType type_;
};

template <class T>
constexpr T null_value() {
  if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
    return std::numeric_limits<T>::quiet_NaN();
  } else {
    return std::numeric_limits<T>::min();  // 0 for flags
  }
}

template <class T>
class Column : public AnyColumn {
 public:
  explicit Column(T null = null_value<T>(), bool texts = false)
      : AnyColumn(column_type<T>(), texts), null_(null) {}

  // Rows are put in ascending order; those left out are NULL.
  void put(size_t row, T value) {
    if (row >= capacity_) reserve(row + 1, sizeof(T));
    T* const values = data();
    while (filled_ < row) values[filled_++] = null_;
    values[row] = value;
    filled_ = row + 1;
  }
  T* data() { return static_cast<T*>(memory_.get()); }
  T null() const { return null_; }

  void fill(size_t rows) override {
    if (filled_ == 0 || filled_ >= rows) return;
    if (rows > capacity_) reserve(rows, sizeof(T));
    std::fill(data() + filled_, data() + rows, null_);
    filled_ = rows;
  }
  void map_ids(const std::vector<int32_t>& map) override {
    if constexpr (sizeof(T) == 4) {
      T* const ids = data();
      for (size_t i = 0; i < filled_; ++i) {
        if (ids[i] >= 0) ids[i] = map[static_cast<size_t>(ids[i])];
      }
    }
  }

 private:
  T null_;
};

using U8Column = Column<uint8_t>;
using I32Column = Column<int32_t>;
using I64Column = Column<int64_t>;
using F64Column = Column<double>;
struct TextColumn : I32Column {
  TextColumn() : I32Column(-1, true) {}
};
struct RowColumn : I32Column {  // rows of a side table
  RowColumn() : I32Column(-1) {}
};

}  // namespace dctx::trace_event
