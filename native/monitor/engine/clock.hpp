#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace dctx::monitor {

int64_t monotonic_ns();  // CLOCK_MONOTONIC
int64_t utc_ns();        // CLOCK_REALTIME: since 1970

// The clock of the hooks: the processor's counter where it runs at one rate, else CLOCK_MONOTONIC.
// Times are comparable with monotonic_ns().
class Clock {
 public:
  // Measures the counter against CLOCK_MONOTONIC for a few milliseconds, once; later calls return
  // at once.
  static void calibrate();
  // ns since an arbitrary point; compare with to_monotonic.
  static int64_t now_ns() {
#if defined(__x86_64__)
    if (state_.counter) {
      const uint64_t ticks = __rdtsc() - state_.first_ticks;
      return state_.first_ns +
             static_cast<int64_t>(static_cast<unsigned __int128>(ticks) * state_.factor >> 32);
    }
#endif
    return monotonic_ns();
  }
  static bool uses_counter() { return state_.counter; }
  // now_ns() − monotonic_ns(), read together: how far the two have drifted apart.
  static int64_t drift_ns();

 private:
  struct State {
    bool counter = false;
    uint64_t first_ticks = 0;
    int64_t first_ns = 0;
    uint64_t factor = 0;  // ns per tick, times 2^32
  };
  static State state_;
};

int64_t thread_cpu_ns();  // CLOCK_THREAD_CPUTIME_ID

// What the calling thread has used. Two system calls, about a microsecond: for scopes only. The
// CPU time that comes with the faults is as old as the last tick, so that it is asked on its own.
struct ThreadUsage {
  int64_t cpu_ns = 0;
  int64_t faults = 0;    // page faults, minor and major
  int64_t switches = 0;  // context switches, voluntary and not
};
ThreadUsage thread_usage();

}  // namespace dctx::monitor
