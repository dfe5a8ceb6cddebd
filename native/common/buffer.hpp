#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace dctx {

// Memory for a column, not initialised: the threads that fill it touch each page first.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t bytes) : bytes_(new std::byte[bytes]), size_(bytes) {}
  void* data() { return bytes_.get(); }
  const void* data() const { return bytes_.get(); }
  size_t size() const { return size_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t size_ = 0;
};

}  // namespace dctx
