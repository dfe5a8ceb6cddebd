#pragma once
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace dctx::monitor {

// The operators of one thread that may have a backward counterpart, by autograd's sequence number:
// the newest 65,536. Written by the thread, read by those that run backward operators.
class ForwardRing {
 public:
  static constexpr uint64_t kSlots = 65'536;

  // Latest writer wins: autograd takes the number after the innermost operator with it began.
  void store(uint64_t sequence, uint32_t node) {
    Slot* slots = slots_.load(std::memory_order_relaxed);
    if (slots == nullptr && (slots = allocate()) == nullptr) return;
    Slot& slot = slots[sequence % kSlots];
    slot.tag.store(0, std::memory_order_relaxed);
    slot.node.store(node, std::memory_order_release);  // who reads it sees the tag change
    slot.tag.store(tag(sequence), std::memory_order_release);
  }
  // Another thread writes from now on, and its numbers begin anew.
  void change_owner() { owner_.fetch_add(1, std::memory_order_relaxed); }
  // True, and the node, when the number is still there.
  bool find(uint64_t sequence, uint32_t* node) const {
    const Slot* slots = slots_.load(std::memory_order_acquire);
    if (slots == nullptr) return false;
    const Slot& slot = slots[sequence % kSlots];
    const uint64_t wanted = tag(sequence);
    if (slot.tag.load(std::memory_order_acquire) != wanted) return false;
    *node = slot.node.load(std::memory_order_acquire);
    return slot.tag.load(std::memory_order_relaxed) == wanted;
  }

 private:
  struct Slot {
    std::atomic<uint64_t> tag;  // owner and sequence + 1; 0 is empty, as memory of the system is
    std::atomic<uint32_t> node;
  };
  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };
  uint64_t tag(uint64_t sequence) const {
    return owner_.load(std::memory_order_relaxed) << 48 | ((sequence + 1) & 0xffffffffffffULL);
  }
  // Untouched pages of it cost no memory.
  Slot* allocate() {
    owned_.reset(static_cast<Slot*>(std::calloc(kSlots, sizeof(Slot))));
    slots_.store(owned_.get(), std::memory_order_release);
    return owned_.get();
  }

  std::atomic<uint64_t> owner_{0};
  std::atomic<Slot*> slots_{nullptr};
  std::unique_ptr<Slot[], Free> owned_;
};

}  // namespace dctx::monitor
