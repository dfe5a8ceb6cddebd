#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dctx::monitor {

// Builds the content of a chunk that holds a table: rows by column, each column as narrow as its
// values allow. The encoding is told in docs/recording-format.md.
class Table {
 public:
  // Rows are numbered from `first` on; `owner` is the thread that they belong to, or 0.
  Table(size_t rows, uint32_t first, uint32_t owner)
      : rows_(static_cast<uint32_t>(rows)), first_(first), owner_(owner) {}

  // Each value in as many bytes as the widest needs; none when all are 0.
  void integers(uint8_t column, const std::vector<int64_t>& values);
  void numbers(uint8_t column, const std::vector<double>& values);
  void texts(uint8_t column, const std::vector<std::string_view>& values);

  std::string content() const;

 private:
  enum class Coding : uint8_t { integer, number, text };
  void describe(uint8_t column, Coding coding, uint8_t width, size_t bytes);

  uint32_t rows_;
  uint32_t first_;
  uint32_t owner_;
  uint16_t columns_ = 0;
  std::string descriptions_;
  std::string data_;
};

// Little-endian bytes, whatever the machine's order.
void put(std::string& out, uint64_t value, size_t bytes);

}  // namespace dctx::monitor
