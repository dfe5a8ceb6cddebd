#include "monitor/gpu/rocprofiler/kernels.hpp"

#include <algorithm>
#include <string_view>

namespace dctx::monitor::gpu::rocprofiler {

void KernelNames::add(uint64_t kernel, const char* symbol) {
  std::string_view name = symbol != nullptr ? symbol : "";
  constexpr std::string_view kDescriptor = ".kd";
  if (name.size() > kDescriptor.size() &&
      name.substr(name.size() - kDescriptor.size()) == kDescriptor) {
    name.remove_suffix(kDescriptor.size());
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  names_.emplace(kernel, name);
}

const char* KernelNames::find(uint64_t kernel) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = names_.find(kernel);
  return found != names_.end() ? found->second.c_str() : "";
}

void Devices::learn(const void** agents, size_t count) {
  gpus_.clear();
  for (size_t i = 0; i < count; ++i) {
    const Agent& agent = *static_cast<const Agent*>(agents[i]);
    if (agent.size >= sizeof(Agent) - sizeof(uint32_t) && agent.type == kGpuAgent) {
      gpus_.push_back(agent.id.value);
    }
  }
}

uint32_t Devices::number(uint64_t agent) const {
  const auto found = std::find(gpus_.begin(), gpus_.end(), agent);
  return found != gpus_.end() ? static_cast<uint32_t>(found - gpus_.begin()) : 0;
}

}  // namespace dctx::monitor::gpu::rocprofiler
