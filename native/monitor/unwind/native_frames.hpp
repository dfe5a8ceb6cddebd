#pragma once
#include <string>

#include "monitor/engine/native_source.hpp"

namespace dctx::monitor {

// Unwinds with the compiler's own runtime. Microseconds a call: for the engine to call once for
// each pair of context and operator.
NativeSource native_frames();

// Unwinds with libunwind, which remembers how: for every operator. Null, with the reason, when the
// library is not there. It is not linked, so that dctx runs without it.
NativeSource fast_native_frames(std::string* reason);

// Python and native frames in the order of their calls; unwinds as native_frames(), every time.
MergedSource merged_frames();

// The label of the function around an instruction (see native_source.hpp), or all ones: it lies in
// no library.
uint64_t function_label(uintptr_t instruction);

}  // namespace dctx::monitor
