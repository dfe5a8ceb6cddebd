#include "monitor/engine/process_usage.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>

#include "monitor/engine/clock.hpp"

namespace dctx::monitor {
namespace {

int64_t ns_of(const timeval& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_usec} * 1'000;
}

// The file stays open, as opening it costs more than reading. One opened before a fork tells of the
// parent: a child opens its own.
int statm() {
  static std::atomic<int> descriptor{-1};
  static std::atomic<pid_t> owner{0};
  if (owner.load() != getpid()) {
    descriptor.store(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
    owner.store(getpid());
  }
  return descriptor.load();
}

int64_t resident_bytes() {
  std::array<char, 128> text{};
  const ssize_t size = ::pread(statm(), text.data(), text.size() - 1, 0);
  if (size <= 0) return 0;
  char* after_total = nullptr;
  std::strtoll(text.data(), &after_total, 10);
  return std::strtoll(after_total, nullptr, 10) * ::sysconf(_SC_PAGESIZE);
}

// Asking costs more than a short step of a program may take.
int64_t recent_resident_bytes() {
  constexpr int64_t kRecentNs = 1'000'000;
  static std::atomic<int64_t> asked_ns{0};
  static std::atomic<int64_t> bytes{0};
  const int64_t now_ns = monotonic_ns();
  if (now_ns - asked_ns.load(std::memory_order_relaxed) >= kRecentNs) {
    bytes.store(resident_bytes(), std::memory_order_relaxed);
    asked_ns.store(now_ns, std::memory_order_relaxed);
  }
  return bytes.load(std::memory_order_relaxed);
}

}  // namespace

ProcessUsage process_usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {ns_of(usage.ru_utime) + ns_of(usage.ru_stime), usage.ru_minflt + usage.ru_majflt,
          usage.ru_nvcsw + usage.ru_nivcsw, recent_resident_bytes()};
}

}  // namespace dctx::monitor
