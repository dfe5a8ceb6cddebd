#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dctx::monitor {

// What a recording could not place or measure, one counter each. The values are written to
// recordings: only append.
enum class Loss : uint8_t {
  orphans,               // device records whose launch was not seen
  drops,                 // events that a full buffer refused
  association_misses,    // backward operators whose forward operator was not found
  detached,              // events whose Python stack did not meet that of the event around them
  elided,                // events below more than 1,024 Python frames
  folded,                // events that went to [other], the cap on nodes being reached
  late_ends,             // ends without a begin: of an older recording, or of another thread
  clamped_self,          // events shorter than what ran inside them (scopes that overlap)
  too_deep,              // events beyond the depth that is kept
  threads_refused,       // threads beyond the number that is kept
  samples_dropped,       // samples of the CPU that a full buffer refused
  instructions_dropped,  // samples of instructions that the device or its driver lost
  kCount,
};

constexpr std::array<const char*, static_cast<size_t>(Loss::kCount)> kLossNames = {
    "orphans",  "drops",           "association_misses", "detached",
    "elided",   "folded",          "late_ends",          "clamped_self",
    "too_deep", "threads_refused", "samples_dropped",    "instructions_dropped"};

// Counters of the process: losses are rare, so that threads may share them.
class LossCounters {
 public:
  void add(Loss loss, uint64_t count = 1) {
    counters_[static_cast<size_t>(loss)].fetch_add(count, std::memory_order_relaxed);
  }
  uint64_t get(Loss loss) const {
    return counters_[static_cast<size_t>(loss)].load(std::memory_order_relaxed);
  }
  void clear() {
    for (auto& counter : counters_) counter.store(0, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<uint64_t>, static_cast<size_t>(Loss::kCount)> counters_{};
};

}  // namespace dctx::monitor
