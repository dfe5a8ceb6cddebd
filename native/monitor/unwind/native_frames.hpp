#pragma once
#include "monitor/engine/native_source.hpp"

namespace dctx::monitor {

// Unwinds with the compiler's own runtime. Microseconds a call: the engine calls it once for each
// pair of context and operator.
NativeSource native_frames();

}  // namespace dctx::monitor
