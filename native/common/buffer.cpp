#include "common/buffer.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace dctx {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kPage = 4096;

// Columns are filled side by side. Were they all to begin at the same place of a page, row i of
// each would want the same few lines of the cache; so each block begins at another line.
size_t next_shift() {
  static std::atomic<size_t> blocks{0};
  return blocks.fetch_add(1, std::memory_order_relaxed) % (kPage / kCacheLine) * kCacheLine;
}

}  // namespace

Buffer::Buffer(size_t bytes) : size_(bytes) {
  const size_t shift = bytes >= kPage ? next_shift() : 0;
  if (bytes > std::numeric_limits<size_t>::max() - kPage - kCacheLine) throw std::bad_alloc();
  const size_t rounded = (bytes + shift + kCacheLine) / kCacheLine * kCacheLine;
  block_.reset(std::aligned_alloc(kCacheLine, rounded));
  if (!block_) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(block_.get()) + shift;
}

void Buffer::Free::operator()(void* memory) const { std::free(memory); }

}  // namespace dctx
