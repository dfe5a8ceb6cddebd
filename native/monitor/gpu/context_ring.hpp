#pragma once
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace dctx::monitor::gpu {

// From the number of a launch to its context: the newest 2^20 launches. Written by the threads
// that launch, read by those that deliver records; no lock. A launch that was overwritten is not
// found: its records are orphans.
class ContextRing {
 public:
  static constexpr uint64_t kSlots = uint64_t{1} << 20;

  // `correlation` is not 0.
  void store(uint64_t correlation, uint64_t context) {
    Slot* slots = slots_.load(std::memory_order_relaxed);
    if (slots == nullptr) return;
    Slot& slot = slots[correlation % kSlots];
    slot.correlation.store(0, std::memory_order_relaxed);
    slot.context.store(context, std::memory_order_release);  // who reads it sees the 0 or later
    slot.correlation.store(correlation, std::memory_order_release);
  }
  // False when the launch was never stored, or was overwritten.
  bool find(uint64_t correlation, uint64_t* context) const {
    const Slot* slots = slots_.load(std::memory_order_acquire);
    if (slots == nullptr) return false;
    const Slot& slot = slots[correlation % kSlots];
    if (slot.correlation.load(std::memory_order_acquire) != correlation) return false;
    *context = slot.context.load(std::memory_order_acquire);
    return slot.correlation.load(std::memory_order_relaxed) == correlation;
  }
  // Before the first launch: the hooks allocate nothing. Untouched pages cost no memory. False when
  // memory is out. From one thread at a time.
  bool reserve() {
    if (owned_ != nullptr) return true;
    owned_.reset(static_cast<Slot*>(std::calloc(kSlots, sizeof(Slot))));
    slots_.store(owned_.get(), std::memory_order_release);
    return owned_ != nullptr;
  }

 private:
  struct Slot {
    std::atomic<uint64_t> correlation;  // 0 is empty, as memory of the system is
    std::atomic<uint64_t> context;
  };
  static_assert(sizeof(Slot) == 16);
  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };

  std::atomic<Slot*> slots_{nullptr};
  std::unique_ptr<Slot[], Free> owned_;
};

}  // namespace dctx::monitor::gpu
