#include "monitor/gpu/samples/cubins.hpp"

namespace dctx::monitor::gpu {

bool Cubins::add(uint64_t crc, const void* bytes, size_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (cubins_.count(crc) > 0) return true;
  if (bytes == nullptr || count == 0 || count > kMostBytes - bytes_) return false;
  cubins_.emplace(crc, std::string(static_cast<const char*>(bytes), count));
  bytes_ += count;
  return true;
}

bool Cubins::find(uint64_t crc, std::string& bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = cubins_.find(crc);
  if (found == cubins_.end()) return false;
  bytes = found->second;
  return true;
}

size_t Cubins::count() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return cubins_.size();
}

}  // namespace dctx::monitor::gpu
