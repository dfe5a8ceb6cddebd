#pragma once
#include <string>

namespace dctx::monitor::gpu::cupti {

// Whether this process may sample instructions: from what the driver says of itself
// (/proc/driver/nvidia/params) and the process's rights (/proc/self/status). True where the driver
// does not say that it restricts it.
bool may_sample();
bool may_sample(const std::string& driver_params, const std::string& process_status);

}  // namespace dctx::monitor::gpu::cupti
