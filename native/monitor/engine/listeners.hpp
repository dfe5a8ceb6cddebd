#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "monitor/api/dctx_monitor.h"
#include "monitor/engine/engine_state.hpp"

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
  // Once it returns, the function does not run, and is not called again: it waits for calls that
  // run, which may need the interpreter's lock. However many events there are, it gets its turn.
  int remove(int handle);

  static bool any() { return engine_state.listeners.load(std::memory_order_relaxed) > 0; }
  void tell(const dctx_event& event);
  // Calls of threads that the child does not have do not run there.
  void after_fork_in_child();

 private:
  // Who tells it says so before looking at the function; who removes it takes the function away
  // before looking at who tells: one of them sees the other.
  struct Listener {
    std::atomic<dctx_event_fn> function{nullptr};
    std::atomic<uint32_t> running{0};  // threads that may call it
    bool taken = false;
    // Written while there is no function:
    void* user = nullptr;
    uint32_t domain = 0;
    uint32_t mask = 0;
  };

  std::mutex mutex_;  // of who adds and removes; events do not take it
  std::array<Listener, kMax> listeners_{};
};

}  // namespace dctx::monitor
