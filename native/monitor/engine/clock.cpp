#include "monitor/engine/clock.hpp"

#include <sys/resource.h>
#include <time.h>

#include <mutex>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace dctx::monitor {
namespace {

int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

#if defined(__x86_64__)
bool invariant_counter() {
  unsigned int a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
}

struct Pair {
  uint64_t ticks;
  int64_t ns;
};

// The closest of a few readings of both clocks.
Pair read_pair() {
  Pair best{};
  uint64_t best_width = ~uint64_t{0};
  for (int i = 0; i < 16; ++i) {
    const uint64_t before = __rdtsc();
    const int64_t ns = monotonic_ns();
    const uint64_t after = __rdtsc();
    if (after - before < best_width) {
      best_width = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
  return best;
}
#endif

}  // namespace

Clock::State Clock::state_;

int64_t utc_ns() { return read_clock(CLOCK_REALTIME); }
int64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }
int64_t thread_cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

ThreadUsage thread_usage() {
  rusage usage{};
#ifdef RUSAGE_THREAD
  getrusage(RUSAGE_THREAD, &usage);
#endif
  return {thread_cpu_ns(), usage.ru_minflt + usage.ru_majflt, usage.ru_nvcsw + usage.ru_nivcsw};
}

void Clock::calibrate() {
#if defined(__x86_64__)
  static std::once_flag once;
  std::call_once(once, [] {
    if (!invariant_counter()) return;
    // 20 ms: an error of 100 ns in the readings is one of 5 in a million in the rate.
    const Pair first = read_pair();
    timespec pause{0, 20'000'000};
    nanosleep(&pause, nullptr);
    const Pair last = read_pair();
    if (last.ticks <= first.ticks || last.ns <= first.ns) return;
    const double rate =
        static_cast<double>(last.ns - first.ns) / static_cast<double>(last.ticks - first.ticks);
    state_.first_ticks = first.ticks;
    state_.first_ns = first.ns;
    state_.factor = static_cast<uint64_t>(rate * 4294967296.0);
    state_.counter = true;
  });
#endif
}

int64_t Clock::drift_ns() { return now_ns() - monotonic_ns(); }

}  // namespace dctx::monitor
