#pragma once
#include "monitor/gpu/provider.hpp"
#include "monitor/gpu/rocprofiler/abi.hpp"

namespace dctx::monitor::gpu::rocprofiler {

// Loads rocprofiler-sdk: that which is loaded already, else DCTX_ROCPROFILER_LIB, else the first of
// `candidates` (a path a line), else what the loader finds and the usual place. It is never
// unloaded.
Status load(const char* candidates, Functions& functions, Reason& reason);

// Puts a text into a Reason, cut to its size.
void tell(Reason& reason, const char* text);

}  // namespace dctx::monitor::gpu::rocprofiler
