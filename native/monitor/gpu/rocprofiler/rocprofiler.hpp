#pragma once
#include "monitor/gpu/provider.hpp"

namespace dctx::monitor::gpu {

// AMD's rocprofiler-sdk, loaded at run time. It has to be opened before the program loads a ROCm
// runtime. Not tested on hardware.
const Provider& rocprofiler_provider();

}  // namespace dctx::monitor::gpu
