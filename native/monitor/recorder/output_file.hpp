#pragma once
#include <string>
#include <string_view>

namespace dctx::monitor {

// A file that grows by whole pieces: what a failed write left is cut off again. No function
// throws; `error()` tells what went wrong last.
class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() { close(); }

  // Puts a file with this content in place of `path`: it appears complete or not at all.
  bool replace(const std::string& path, std::string_view content, bool durable);
  // False also when an earlier piece could not be cut off.
  bool append(std::string_view content, bool durable);
  // Leaves the file as it is: also for a child that inherited it.
  void close();

  bool is_open() const { return descriptor_ >= 0; }
  size_t size() const { return size_; }
  const std::string& error() const { return error_; }

 private:
  bool fail(const char* what);

  int descriptor_ = -1;
  size_t size_ = 0;
  bool torn_ = false;  // bytes after `size_` could not be removed
  std::string error_;
};

}  // namespace dctx::monitor
