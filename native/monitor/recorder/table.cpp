#include "monitor/recorder/table.hpp"

#include <algorithm>
#include <cstring>

namespace dctx::monitor {
namespace {

// Bytes that hold the value in two's complement; 0 for the value 0.
uint8_t width_of(int64_t value) {
  if (value == 0) return 0;
  uint64_t bits = static_cast<uint64_t>(value < 0 ? ~value : value);
  uint8_t width = 1;
  for (bits >>= 7; bits != 0; bits >>= 8) ++width;
  return width;
}

}  // namespace

void put(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> 8 * i & 0xff));
}

void Table::describe(uint8_t column, Coding coding, uint8_t width, size_t bytes) {
  put(descriptions_, column, 1);
  put(descriptions_, static_cast<uint8_t>(coding), 1);
  put(descriptions_, width, 1);
  put(descriptions_, 0, 1);
  put(descriptions_, bytes, 4);
  ++columns_;
}

void Table::integers(uint8_t column, const std::vector<int64_t>& values) {
  uint8_t width = 0;
  for (const int64_t value : values) width = std::max(width, width_of(value));
  describe(column, Coding::integer, width, width * values.size());
  data_.reserve(data_.size() + width * values.size());
  for (const int64_t value : values) put(data_, static_cast<uint64_t>(value), width);
}

void Table::numbers(uint8_t column, const std::vector<double>& values) {
  describe(column, Coding::number, 8, 8 * values.size());
  for (const double value : values) {
    uint64_t bits = 0;
    static_assert(sizeof bits == sizeof value);
    std::memcpy(&bits, &value, sizeof bits);
    put(data_, bits, 8);
  }
}

void Table::texts(uint8_t column, const std::vector<std::string_view>& values) {
  size_t longest = 0;
  size_t total = 0;
  for (const std::string_view value : values) {
    longest = std::max(longest, value.size());
    total += value.size();
  }
  const uint8_t width = width_of(static_cast<int64_t>(longest));
  describe(column, Coding::text, width, width * values.size() + total);
  for (const std::string_view value : values) put(data_, value.size(), width);
  for (const std::string_view value : values) data_.append(value);
}

std::string Table::content() const {
  std::string out;
  out.reserve(16 + descriptions_.size() + data_.size());
  put(out, rows_, 4);
  put(out, first_, 4);
  put(out, owner_, 4);
  put(out, columns_, 2);
  put(out, 0, 2);
  out += descriptions_;
  out += data_;
  return out;
}

}  // namespace dctx::monitor
