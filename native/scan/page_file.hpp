#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace dctx::scan {

// The file has no usable SQLite header.
class NotSqlite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An SQLite database file opened for reading, and what its header says. Pages are read with
// pread into the caller's buffers, never mapped: a file that another program cuts while we read
// it gives a short read then, where a mapping would kill the process, and nothing stays resident.
class PageFile {
 public:
  // Throws std::system_error when it cannot be opened, NotSqlite.
  explicit PageFile(const std::string& path);
  ~PageFile();
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;

  uint32_t page_size() const { return page_size_; }
  uint32_t usable_size() const { return usable_size_; }
  uint32_t page_count() const { return page_count_; }
  uint32_t pages_present() const { return pages_present_; }
  uint32_t encoding() const { return encoding_; }
  uint32_t schema_format() const { return schema_format_; }
  const std::string& path() const { return path_; }

  // Reads exactly `size` bytes; false when the file ends before, or on a read error.
  bool read(uint64_t offset, void* to, size_t size) const;
  // Page numbers start at 1. False when it is outside the file or cannot be read.
  bool read_page(uint32_t page, uint8_t* to) const {
    return page >= 1 && page <= pages_present_ && read(offset_of(page), to, page_size_);
  }
  uint64_t offset_of(uint32_t page) const { return uint64_t{page - 1} * page_size_; }

  // False when size, modification time or change counter differ from those at opening.
  bool unchanged() const;

 private:
  struct Stamp {
    int64_t size = 0;
    int64_t mtime_ns = 0;
    uint32_t change_counter = 0;
  };
  bool stamp(Stamp& out) const;
  void open();
  void parse_header();

  std::string path_;
  int fd_ = -1;
  Stamp opened_;
  uint32_t page_size_ = 0;
  uint32_t usable_size_ = 0;
  uint32_t page_count_ = 0;
  uint32_t pages_present_ = 0;
  uint32_t encoding_ = 1;
  uint32_t schema_format_ = 0;
};

}  // namespace dctx::scan
