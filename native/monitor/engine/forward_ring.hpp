#pragma once
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace dctx::monitor {

// The operators of one thread that may have a backward counterpart, by autograd's sequence number:
// the newest 65,536. Written by the thread, read by those that run backward operators.
//
// A slot is one word, so that it is never half written: which of the numbers that share it is
// there, and the node. Numbers 2^48 apart would be taken for each other: the hooks refuse any
// beyond that.
class ForwardRing {
 public:
  static constexpr uint64_t kSlots = 65'536;

  // Latest writer wins: autograd takes the number after the innermost operator with it began.
  void store(uint64_t sequence, uint32_t node) {
    Slot* slots = slots_.load(std::memory_order_relaxed);
    if (slots == nullptr && (slots = allocate()) == nullptr) return;
    // Release: who reads it sees the node's row.
    slots[sequence % kSlots].store(tag(sequence) | (node + 1U), std::memory_order_release);
  }
  // Another thread writes from now on, and its numbers begin anew.
  void change_owner() {
    Slot* const slots = slots_.load(std::memory_order_relaxed);
    if (slots == nullptr) return;
    for (uint64_t i = 0; i < kSlots; ++i) {  // pages never used are only read
      if (slots[i].load(std::memory_order_relaxed) != kEmpty) {
        slots[i].store(kEmpty, std::memory_order_relaxed);
      }
    }
  }
  // True, and the node, when the number is still there.
  bool find(uint64_t sequence, uint32_t* node) const {
    const Slot* slots = slots_.load(std::memory_order_acquire);
    if (slots == nullptr) return false;
    const uint64_t found = slots[sequence % kSlots].load(std::memory_order_acquire);
    if (found == kEmpty || (found & ~kNode) != tag(sequence)) return false;
    *node = static_cast<uint32_t>(found & kNode) - 1U;
    return true;
  }

 private:
  // Above, the sequence number without its lower 16 bits; below, the node + 1.
  using Slot = std::atomic<uint64_t>;
  static constexpr uint64_t kEmpty = 0;  // as memory of the system is
  static constexpr uint64_t kNode = 0xffffffffULL;

  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };
  static uint64_t tag(uint64_t sequence) { return sequence / kSlots << 32; }
  // Untouched pages of it cost no memory.
  Slot* allocate() {
    owned_.reset(static_cast<Slot*>(std::calloc(kSlots, sizeof(Slot))));
    slots_.store(owned_.get(), std::memory_order_release);
    return owned_.get();
  }

  std::atomic<Slot*> slots_{nullptr};
  std::unique_ptr<Slot[], Free> owned_;
};

}  // namespace dctx::monitor
