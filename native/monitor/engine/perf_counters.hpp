#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dctx::monitor {

constexpr size_t kMaxCounters = 4;
using CounterValues = std::array<uint64_t, kMaxCounters>;

// Counters of the processor or the kernel for the calling thread, in user space alone; chosen once
// for the process.
class PerfCounters {
 public:
  // Chooses by name: those of `known()`. False, with the reason, when one is unknown or cannot be
  // opened: none is read then. An empty list ends it.
  static bool choose(const std::vector<std::string>& names, std::string* reason);
  static const std::vector<std::string>& known();
  // How many are chosen.
  static size_t count();
  // The values of the calling thread since its first call. False when they cannot be read. Opens
  // the counters of a thread on its first call; later calls read them from user space where the
  // processor allows that.
  static bool read(CounterValues* values);
};

}  // namespace dctx::monitor
