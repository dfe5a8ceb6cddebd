#include "monitor/engine/listeners.hpp"

#include <chrono>
#include <thread>

namespace dctx::monitor {
namespace {

constexpr std::chrono::microseconds kPause{50};
thread_local int inside = -1;  // the listener of this thread that runs

}  // namespace

Listeners& Listeners::instance() {
  static Listeners* const listeners = new Listeners;  // events come until the process ends
  return *listeners;
}

int Listeners::add(uint32_t domain, uint32_t event_mask, dctx_event_fn function, void* user) {
  if (inside >= 0) return kInside;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < kMax; ++i) {
    Listener& listener = listeners_[i];
    if (listener.taken) continue;
    listener.taken = true;
    listener.user = user;
    listener.domain = domain;
    listener.mask = event_mask;
    listener.function.store(function);
    engine_state.listeners.fetch_add(1, std::memory_order_relaxed);
    return static_cast<int>(i);
  }
  return kFull;
}

int Listeners::remove(int handle) {
  if (inside >= 0) return kInside;
  if (handle < 0 || static_cast<size_t>(handle) >= kMax) return kUnknown;
  Listener& listener = listeners_[static_cast<size_t>(handle)];
  if (listener.function.exchange(nullptr) == nullptr) return kUnknown;
  engine_state.listeners.fetch_sub(1, std::memory_order_relaxed);
  while (listener.running.load() != 0) std::this_thread::sleep_for(kPause);
  const std::lock_guard<std::mutex> lock(mutex_);
  listener.taken = false;
  return 0;
}

void Listeners::tell(const dctx_event& event) {
  if (inside >= 0) return;
  for (size_t i = 0; i < kMax; ++i) {
    Listener& listener = listeners_[i];
    if (listener.function.load(std::memory_order_relaxed) == nullptr) continue;
    listener.running.fetch_add(1);
    const dctx_event_fn function = listener.function.load();
    if (function != nullptr && listener.domain == event.domain &&
        (listener.mask & event.event) != 0) {
      inside = static_cast<int>(i);
      function(&event, listener.user);
      inside = -1;
    }
    listener.running.fetch_sub(1);
  }
}

void Listeners::after_fork_in_child() {
  for (size_t i = 0; i < kMax; ++i) {
    listeners_[i].running.store(static_cast<int>(i) == inside ? 1 : 0);
  }
}

}  // namespace dctx::monitor
