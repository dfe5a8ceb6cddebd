#include "monitor/engine/allocations.hpp"

namespace dctx::monitor {
namespace {

template <class T>
void bump(std::atomic<T>& value, T by) {
  value.store(value.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace

void AllocationLog::add(uint32_t node, int32_t device_type, int32_t device, int64_t bytes,
                        int64_t in_use_bytes) {
  const uint64_t key = uint64_t{node} << 32 | (static_cast<uint32_t>(device_type) & 0xffffU) << 16 |
                       (static_cast<uint32_t>(device) & 0xffffU);
  const auto known = rows_.find(key);
  Row* row = nullptr;
  if (known != rows_.end()) {
    row = &sums_[known->second];
  } else {
    row = sums_.prepare();
    if (row == nullptr) return;
    row->node = node;
    row->device_type = device_type;
    row->device = device;
    row->count.store(0, std::memory_order_relaxed);
    row->bytes.store(0, std::memory_order_relaxed);
    row->freed_bytes.store(0, std::memory_order_relaxed);
    row->peak_bytes.store(0, std::memory_order_relaxed);
    rows_.emplace(key, static_cast<uint32_t>(sums_.size()));
    sums_.publish();
  }
  if (bytes < 0) {
    bump(row->freed_bytes, -bytes);
    return;
  }
  bump(row->count, uint64_t{1});
  bump(row->bytes, bytes);
  if (in_use_bytes > row->peak_bytes.load(std::memory_order_relaxed)) {
    row->peak_bytes.store(in_use_bytes, std::memory_order_relaxed);
  }
}

AllocationSums AllocationLog::view(size_t row) const {
  const Row& sums = sums_[row];
  return {sums.node,
          sums.device_type,
          sums.device,
          sums.count.load(std::memory_order_relaxed),
          sums.bytes.load(std::memory_order_relaxed),
          sums.freed_bytes.load(std::memory_order_relaxed),
          sums.peak_bytes.load(std::memory_order_relaxed)};
}

}  // namespace dctx::monitor
