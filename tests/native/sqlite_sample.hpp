#pragma once
// Writes small SQLite database files, byte by byte, so that the reader's tests need no library.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "scan/value.hpp"

namespace dctx_test {

using dctx::scan::Blob;
using dctx::scan::Value;
using Row = std::vector<Value>;

inline std::string big_endian(uint64_t value, size_t bytes) {
  std::string out(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) out[bytes - 1 - i] = static_cast<char>(value >> (8 * i));
  return out;
}

inline std::string varint(uint64_t value) {
  if (value >> 56 != 0) {
    std::string out;
    for (int shift = 57; shift >= 8; shift -= 7) {
      out += static_cast<char>(0x80 | ((value >> shift) & 0x7F));
    }
    return out + static_cast<char>(value);
  }
  std::string out(1, static_cast<char>(value & 0x7F));
  while ((value >>= 7) != 0) out.insert(out.begin(), static_cast<char>(0x80 | (value & 0x7F)));
  return out;
}

inline std::pair<uint64_t, std::string> encoded(const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return {0, ""};
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    if (*integer == 0 || *integer == 1) return {*integer == 0 ? 8 : 9, ""};
    constexpr size_t kBytes[] = {1, 2, 3, 4, 6, 8};
    for (uint64_t type = 1; type <= 5; ++type) {
      const size_t bits = 8 * kBytes[type - 1];
      const int64_t limit = int64_t{1} << (bits - 1);
      if (*integer >= -limit && *integer < limit) {
        return {type, big_endian(static_cast<uint64_t>(*integer), bits / 8)};
      }
    }
    return {6, big_endian(static_cast<uint64_t>(*integer), 8)};
  }
  if (const auto* real = std::get_if<double>(&value)) {
    uint64_t bits = 0;
    std::memcpy(&bits, real, 8);
    return {7, big_endian(bits, 8)};
  }
  if (const auto* text = std::get_if<std::string>(&value)) return {13 + 2 * text->size(), *text};
  const std::string& bytes = std::get<Blob>(value).bytes;
  return {12 + 2 * bytes.size(), bytes};
}

inline std::string record(const Row& row) {
  std::string types;
  std::string body;
  for (const Value& value : row) {
    const auto [type, bytes] = encoded(value);
    types += varint(type);
    body += bytes;
  }
  size_t header = types.size() + 1;
  while (types.size() + varint(header).size() > header) ++header;
  return varint(header) + types + body;
}

class SampleDb {
 public:
  explicit SampleDb(size_t page_size = 512, size_t reserved = 0)
      : page_size_(page_size), usable_(page_size - reserved), reserved_(reserved) {
    pages_.emplace_back(page_size_, '\0');
  }

  // Rows get the rowids 1, 2, 3, … times `step`. Returns the root page.
  uint32_t add_table(const std::string& name, const std::string& sql, const std::vector<Row>& rows,
                     int64_t step = 1) {
    std::vector<Cell> cells;
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t rowid = static_cast<int64_t>(i + 1) * step;
      cells.push_back({rowid, leaf_cell(rowid, record(rows[i]))});
    }
    std::vector<Child> level = leaves(cells);
    while (level.size() > 1) level = interiors(level);
    const uint32_t root = level.front().page;
    schema_.push_back({std::string("table"), name, name, static_cast<int64_t>(root), sql});
    return root;
  }

  // The whole file. May be called once all tables are added.
  std::string bytes() {
    std::vector<Cell> cells;
    for (size_t i = 0; i < schema_.size(); ++i) {
      const auto rowid = static_cast<int64_t>(i + 1);
      cells.push_back({rowid, leaf_cell(rowid, record(schema_[i]))});
    }
    size_t used = 0;
    pages_[0] = leaf_page(cells, used, 100);
    if (used != cells.size()) throw std::logic_error("the schema does not fit the first page");
    std::string header = std::string("SQLite format 3\0", 16);
    header += big_endian(page_size_ == 65536 ? 1 : page_size_, 2) + "\x01\x01";
    header += static_cast<char>(reserved_);
    header += "\x40\x20\x20" + big_endian(7, 4) + big_endian(pages_.size(), 4);
    header += std::string(8, '\0') + big_endian(1, 4) + big_endian(4, 4);
    header += std::string(8, '\0') + big_endian(1, 4);
    header.resize(92, '\0');
    header += big_endian(7, 4) + big_endian(3045000, 4);
    std::memcpy(pages_[0].data(), header.data(), 100);
    std::string out;
    for (const std::string& page : pages_) out += page;
    return out;
  }

  size_t page_count() const { return pages_.size(); }

 private:
  struct Cell {
    int64_t key;
    std::string bytes;
  };
  struct Child {
    uint32_t page;
    int64_t last_key;
  };

  uint32_t add_page(std::string bytes) {
    bytes.resize(page_size_, '\0');
    pages_.push_back(std::move(bytes));
    return static_cast<uint32_t>(pages_.size());
  }

  std::string leaf_cell(int64_t rowid, const std::string& payload) {
    std::string cell = varint(payload.size()) + varint(static_cast<uint64_t>(rowid));
    const size_t max_local = usable_ - 35;
    if (payload.size() <= max_local) return cell + payload;
    const size_t min_local = (usable_ - 12) * 32 / 255 - 23;
    const size_t fitted = min_local + (payload.size() - min_local) % (usable_ - 4);
    const size_t local = fitted <= max_local ? fitted : min_local;
    uint32_t next = 0;
    size_t end = payload.size();
    while (end > local) {  // last page first, each one full but the last
      size_t size = (end - local) % (usable_ - 4);
      if (size == 0) size = usable_ - 4;
      next = add_page(big_endian(next, 4) + payload.substr(end - size, size));
      end -= size;
    }
    return cell + payload.substr(0, local) + big_endian(next, 4);
  }

  // As many cells from `used` on as fit; `start`: where the b-tree header begins.
  std::string tree_page(char type, const std::vector<Cell>& cells, size_t& used, size_t start,
                        const std::string& right_child) const {
    std::string page(page_size_, '\0');
    const size_t pointers = start + 8 + right_child.size();
    size_t content = usable_;
    size_t count = 0;
    while (used < cells.size() &&
           pointers + 2 * (count + 1) + cells[used].bytes.size() <= content) {
      const std::string& cell = cells[used++].bytes;
      content -= cell.size();
      page.replace(content, cell.size(), cell);
      page.replace(pointers + 2 * count++, 2, big_endian(content, 2));
    }
    const std::string header = type + big_endian(0, 2) + big_endian(count, 2) +
                               big_endian(content % 65536, 2) + '\0' + right_child;
    return page.replace(start, header.size(), header);
  }

  std::string leaf_page(const std::vector<Cell>& cells, size_t& used, size_t start) const {
    return tree_page('\x0D', cells, used, start, "");
  }

  std::vector<Child> leaves(const std::vector<Cell>& cells) {
    std::vector<Child> out;
    size_t used = 0;
    do {
      std::string page = leaf_page(cells, used, 0);
      out.push_back({add_page(std::move(page)), used > 0 ? cells[used - 1].key : 0});
    } while (used < cells.size());
    return out;
  }

  std::vector<Child> interiors(const std::vector<Child>& children) {
    constexpr size_t kFanOut = 8;  // small, for deep trees of few pages
    std::vector<Child> out;
    for (size_t begin = 0; begin < children.size(); begin += kFanOut) {
      const size_t end = std::min(begin + kFanOut, children.size());
      std::vector<Cell> cells;
      for (size_t i = begin; i + 1 < end; ++i) {
        const auto key = static_cast<uint64_t>(children[i].last_key);
        cells.push_back({children[i].last_key, big_endian(children[i].page, 4) + varint(key)});
      }
      size_t used = 0;
      std::string page = tree_page('\x05', cells, used, 0, big_endian(children[end - 1].page, 4));
      out.push_back({add_page(std::move(page)), children[end - 1].last_key});
    }
    return out;
  }

  size_t page_size_;
  size_t usable_;
  size_t reserved_;
  std::vector<std::string> pages_;
  std::vector<Row> schema_;
};

// A file in memory with a name to open it by.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes) : fd_(::memfd_create("sample", 0)) {
    if (fd_ < 0) throw std::runtime_error("no memory file");
    write(bytes);
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void write(const std::string& bytes) const {
    const auto size = static_cast<ssize_t>(bytes.size());
    if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, bytes.data(), bytes.size(), 0) != size) {
      throw std::runtime_error("the memory file cannot be written");
    }
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace dctx_test
