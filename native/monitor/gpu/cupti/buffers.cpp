#include "monitor/gpu/cupti/buffers.hpp"

#include <cstdlib>
#include <utility>

namespace dctx::monitor::gpu::cupti {

void BufferPool::Free::operator()(uint8_t* bytes) const { std::free(bytes); }

uint8_t* BufferPool::take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (used_.size() >= kMost) return nullptr;
  Buffer buffer;
  if (!free_.empty()) {
    buffer = std::move(free_.back());
    free_.pop_back();
  } else {
    buffer.reset(static_cast<uint8_t*>(std::malloc(kBytes)));  // aligned for any record
  }
  uint8_t* const bytes = buffer.get();
  if (bytes != nullptr) used_.emplace(bytes, std::move(buffer));
  return bytes;
}

void BufferPool::give(uint8_t* buffer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = used_.find(buffer);
  if (known == used_.end()) return;
  if (free_.size() < kKept) free_.push_back(std::move(known->second));
  used_.erase(known);
}

size_t BufferPool::in_use() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return used_.size();
}

}  // namespace dctx::monitor::gpu::cupti
