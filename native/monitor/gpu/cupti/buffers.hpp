#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace dctx::monitor::gpu::cupti {

// The buffers that CUPTI writes records to. Some are kept for use again, more are made on demand up
// to a limit; beyond it CUPTI drops records and counts them.
class BufferPool {
 public:
  static constexpr size_t kBytes = size_t{1} << 20;
  static constexpr size_t kKept = 64;
  static constexpr size_t kMost = 256;

  // A buffer to fill; null when kMost are in use or memory is out.
  uint8_t* take();
  // Gives a buffer back; others than those of take() are ignored.
  void give(uint8_t* buffer);
  size_t in_use();

 private:
  struct Free {
    void operator()(uint8_t* bytes) const;
  };
  using Buffer = std::unique_ptr<uint8_t[], Free>;

  std::mutex mutex_;
  std::unordered_map<uint8_t*, Buffer> used_;
  std::vector<Buffer> free_;
};

}  // namespace dctx::monitor::gpu::cupti
