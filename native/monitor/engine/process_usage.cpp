#include "monitor/engine/process_usage.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>

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

}  // namespace

ProcessUsage process_usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {ns_of(usage.ru_utime) + ns_of(usage.ru_stime), usage.ru_minflt + usage.ru_majflt,
          usage.ru_nvcsw + usage.ru_nivcsw, resident_bytes()};
}

}  // namespace dctx::monitor
