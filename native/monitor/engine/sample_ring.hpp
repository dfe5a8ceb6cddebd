#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dctx::monitor {

// Where a thread was.
struct CpuSample {
  uint32_t thread;  // index of the record
  uint32_t node;    // of the event that was open
  uint64_t pc;
  uint32_t ticks;  // of the timer: more than 1 when some came too fast
};

// From a signal handler to the thread that collects: one writes, one reads, neither waits.
class SampleRing {
 public:
  static constexpr size_t kSamples = 1024;

  // False when the ring is full.
  bool push(const CpuSample& sample) {
    const size_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) == kSamples) return false;
    samples_[head % kSamples] = sample;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }
  bool pop(CpuSample* sample) {
    const size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail == head_.load(std::memory_order_acquire)) return false;
    *sample = samples_[tail % kSamples];
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

 private:
  std::array<CpuSample, kSamples> samples_{};
  std::atomic<size_t> head_{0};
  std::atomic<size_t> tail_{0};
};

}  // namespace dctx::monitor
