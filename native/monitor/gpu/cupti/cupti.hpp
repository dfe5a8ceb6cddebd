#pragma once
#include "monitor/gpu/provider.hpp"

namespace dctx::monitor::gpu {

// NVIDIA's CUPTI, loaded at run time.
const Provider& cupti_provider();

}  // namespace dctx::monitor::gpu
