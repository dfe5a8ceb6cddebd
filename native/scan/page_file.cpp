#include "scan/page_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include "scan/bytes.hpp"

namespace dctx::scan {
namespace {

constexpr size_t kHeaderSize = 100;
constexpr char kMagic[] = "SQLite format 3";  // with its final zero: 16 bytes

}  // namespace

PageFile::PageFile(const std::string& path) : path_(path) {
  open();
  try {
    parse_header();
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

PageFile::~PageFile() { ::close(fd_); }

void PageFile::open() {
  // O_NONBLOCK: opening a named pipe must not wait for its writer.
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), path_);
  struct stat status{};
  int error = 0;
  if (::fstat(fd_, &status) != 0) {
    error = errno;
  } else if (S_ISDIR(status.st_mode)) {
    error = EISDIR;
  } else if (!S_ISREG(status.st_mode)) {
    error = EINVAL;
  }
  if (error != 0) {
    ::close(fd_);
    throw std::system_error(error, std::generic_category(), path_);
  }
}

void PageFile::parse_header() {
  uint8_t header[kHeaderSize];
  if (!stamp(opened_)) throw NotSqlite("shorter than an SQLite header");
  if (!read(0, header, kHeaderSize)) throw NotSqlite("shorter than an SQLite header");
  if (std::memcmp(header, kMagic, sizeof kMagic) != 0) throw NotSqlite("no SQLite header");
  const uint32_t stored_size = load16(header + 16);
  page_size_ = stored_size == 1 ? 65536 : stored_size;
  if (page_size_ < 512 || (page_size_ & (page_size_ - 1)) != 0) {
    throw NotSqlite("page size " + std::to_string(page_size_) + " in the SQLite header");
  }
  const uint32_t reserved = header[20];
  if (page_size_ - reserved < 480) {
    throw NotSqlite(std::to_string(reserved) + " reserved bytes a page in the SQLite header");
  }
  usable_size_ = page_size_ - reserved;
  const auto whole_pages = static_cast<uint64_t>(opened_.size) / page_size_;
  const auto limit = uint64_t{std::numeric_limits<uint32_t>::max() - 1};
  const auto file_pages = static_cast<uint32_t>(std::min(whole_pages, limit));
  const uint32_t header_pages = load32(header + 28);
  // The count is only kept up to date by versions that also keep the second counter.
  const bool trusted = header_pages != 0 && load32(header + 24) == load32(header + 92);
  page_count_ = trusted ? header_pages : file_pages;
  pages_present_ = std::min(page_count_, file_pages);
  schema_format_ = load32(header + 44);
  const uint32_t encoding = load32(header + 56);
  encoding_ = encoding == 0 ? 1 : encoding;  // 0: nothing was ever stored
}

bool PageFile::read(uint64_t offset, void* to, size_t size) const {
  auto* bytes = static_cast<uint8_t*>(to);
  while (size > 0) {
    const ssize_t got = ::pread(fd_, bytes, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool PageFile::stamp(Stamp& out) const {
  struct stat status{};
  uint8_t counter[4];
  if (::fstat(fd_, &status) != 0 || !read(24, counter, sizeof counter)) return false;
  out.size = status.st_size;
  out.mtime_ns = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  out.change_counter = load32(counter);
  return true;
}

bool PageFile::unchanged() const {
  Stamp now;
  return stamp(now) && now.size == opened_.size && now.mtime_ns == opened_.mtime_ns &&
         now.change_counter == opened_.change_counter;
}

}  // namespace dctx::scan
