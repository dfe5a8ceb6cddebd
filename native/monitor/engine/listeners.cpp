#include "monitor/engine/listeners.hpp"

#include <mutex>

namespace dctx::monitor {
namespace {

thread_local bool inside = false;  // a listener of this thread runs

}  // namespace

Listeners& Listeners::instance() {
  static Listeners* const listeners = new Listeners;  // events come until the process ends
  return *listeners;
}

int Listeners::add(uint32_t domain, uint32_t event_mask, dctx_event_fn function, void* user) {
  if (inside) return kInside;
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  for (size_t i = 0; i < kMax; ++i) {
    if (listeners_[i].function != nullptr) continue;
    listeners_[i] = {function, user, domain, event_mask};
    count_.fetch_add(1, std::memory_order_relaxed);
    return static_cast<int>(i);
  }
  return kFull;
}

int Listeners::remove(int handle) {
  if (inside) return kInside;
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  if (handle < 0 || static_cast<size_t>(handle) >= kMax) return kUnknown;
  Listener& listener = listeners_[static_cast<size_t>(handle)];
  if (listener.function == nullptr) return kUnknown;
  listener = {};
  count_.fetch_sub(1, std::memory_order_relaxed);
  return 0;
}

void Listeners::tell(const dctx_event& event) {
  if (inside) return;
  inside = true;
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    for (const Listener& listener : listeners_) {
      if (listener.function != nullptr && listener.domain == event.domain &&
          (listener.mask & event.event) != 0) {
        listener.function(&event, listener.user);
      }
    }
  }
  inside = false;
}

}  // namespace dctx::monitor
