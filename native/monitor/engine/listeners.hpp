#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <shared_mutex>

#include "monitor/api/dctx_monitor.h"

namespace dctx::monitor {

// Functions that are told of events, after the engine has recorded them. Without one, an event
// costs a branch.
class Listeners {
 public:
  static constexpr size_t kMax = 16;
  enum Error : int { kFull = -1, kUnknown = -2, kInside = -3 };

  static Listeners& instance();

  // A handle from 0 up, or an Error.
  int add(uint32_t domain, uint32_t event_mask, dctx_event_fn function, void* user);
  int remove(int handle);

  static bool any() { return count_.load(std::memory_order_relaxed) > 0; }
  void tell(const dctx_event& event);

 private:
  struct Listener {
    dctx_event_fn function = nullptr;
    void* user = nullptr;
    uint32_t domain = 0;
    uint32_t mask = 0;
  };

  static inline std::atomic<int> count_{0};  // there is one instance
  std::shared_mutex mutex_;                  // of the listeners; held, shared, while they are told
  std::array<Listener, kMax> listeners_{};
};

}  // namespace dctx::monitor
