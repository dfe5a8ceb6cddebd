#pragma once
#include <cstddef>
#include <memory>

namespace dctx {

// Memory for a column, not initialised: the threads that fill it touch each page first.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t bytes);  // throws std::bad_alloc
  void* data() { return data_; }
  const void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> block_;
  void* data_ = nullptr;  // inside the block, on a cache line
  size_t size_ = 0;
};

}  // namespace dctx
