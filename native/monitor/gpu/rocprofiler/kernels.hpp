#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "monitor/gpu/rocprofiler/abi.hpp"

namespace dctx::monitor::gpu::rocprofiler {

// Names of kernels by their number, as code objects are loaded. Texts live until the process ends:
// records may name a kernel whose code object is gone.
class KernelNames {
 public:
  // `symbol` as the library tells it: mangled, with the suffix `.kd` of the descriptor.
  void add(uint64_t kernel, const char* symbol);
  // Never null; "" when it is not known.
  const char* find(uint64_t kernel) const;
  std::mutex& mutex() { return mutex_; }

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, std::string> names_;  // values do not move
};

// The number that the runtime gives a device: its place among the GPUs.
class Devices {
 public:
  // Of the agents that the library tells, in its order.
  void learn(const void** agents, size_t count);
  // 0 for an agent that was not told.
  uint32_t number(uint64_t agent) const;

 private:
  std::vector<uint64_t> gpus_;
};

}  // namespace dctx::monitor::gpu::rocprofiler
