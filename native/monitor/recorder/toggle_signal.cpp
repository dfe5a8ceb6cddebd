#include "monitor/recorder/toggle_signal.hpp"

#include <signal.h>

#include <atomic>

#include "monitor/recorder/wake.hpp"

namespace dctx::monitor {
namespace {

std::atomic<int> target{-1};
int taken = 0;
struct sigaction before{};

void on_signal(int) {
  const int descriptor = target.load(std::memory_order_relaxed);
  if (descriptor >= 0) Wake::ring(descriptor, ToggleSignal::kToggle);
}

}  // namespace

bool ToggleSignal::take(int signal, int descriptor) {
  target.store(descriptor);
  if (taken == signal) return true;  // a forked child has its parent's handler
  struct sigaction own{};
  own.sa_handler = on_signal;
  own.sa_flags = SA_RESTART;
  sigemptyset(&own.sa_mask);
  if (sigaction(signal, &own, &before) != 0) {
    target.store(-1);
    return false;
  }
  taken = signal;
  return true;
}

void ToggleSignal::give_back() {
  target.store(-1);
  if (taken == 0) return;
  struct sigaction now{};
  if (sigaction(taken, nullptr, &now) == 0 && now.sa_handler == on_signal) {
    sigaction(taken, &before, nullptr);
  }
  taken = 0;
}

void ToggleSignal::forget() { target.store(-1); }

}  // namespace dctx::monitor
