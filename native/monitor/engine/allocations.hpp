#pragma once
#include <atomic>
#include <cstdint>
#include <unordered_map>

#include "monitor/engine/node.hpp"
#include "monitor/engine/published.hpp"

namespace dctx::monitor {

// Memory that contexts took and gave back, one row a context and device.
struct AllocationSums {
  uint32_t node;
  int32_t device_type;  // torch's number: 0 is the CPU
  int32_t device;       // its index, −1 for the CPU
  uint64_t count;       // allocations
  int64_t bytes;        // … and their sizes
  int64_t freed_bytes;  // given back while the context ran, whoever took it
  int64_t peak_bytes;   // the most the allocator had in use after an allocation here
};

// The allocations of one thread. Only the thread itself writes; any thread may read rows below
// size().
class AllocationLog {
 public:
  // ---- owner only. `bytes` < 0: given back. `in_use_bytes`: of the allocator, after it.
  void add(uint32_t node, int32_t device_type, int32_t device, int64_t bytes, int64_t in_use_bytes);

  void clear() {
    rows_.clear();
    sums_.clear();
  }

  // ---- any thread
  size_t size() const { return sums_.size(); }
  AllocationSums view(size_t row) const;

 private:
  struct Row {
    uint32_t node;
    int32_t device_type;
    int32_t device;
    std::atomic<uint64_t> count;
    std::atomic<int64_t> bytes;
    std::atomic<int64_t> freed_bytes;
    std::atomic<int64_t> peak_bytes;
  };

  std::unordered_map<uint64_t, uint32_t> rows_;
  Published<Row> sums_;
};

}  // namespace dctx::monitor
