#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace dctx::monitor::gpu {

// Copies of the code that was loaded on devices: its line tables tell where an instruction comes
// from. What is loaded stays: a later recording of the process needs it too, and is not told again.
class Cubins {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20;

  // Keeps a copy, once for each `crc`; false when there is no room.
  bool add(uint64_t crc, const void* bytes, size_t count);
  // Copies the code; false when it was not kept.
  bool find(uint64_t crc, std::string& bytes);
  size_t count();
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::string> cubins_;
  uint64_t bytes_ = 0;
};

}  // namespace dctx::monitor::gpu
