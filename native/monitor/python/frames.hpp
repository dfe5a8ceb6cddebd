#pragma once
#include "monitor/engine/python_source.hpp"

namespace dctx::monitor {

// Frames read from the interpreter's own structures, without its lock. Null where the structures
// of this Python are not known.
const PythonSource* raw_frames();

// The caller holds the interpreter's lock. From the first call on it is known when code objects
// end, which makes raw frames cheaper to read.
void watch_code();

// Frames through the public interface: takes the interpreter's lock in every hook.
const PythonSource* public_frames();

// The caller holds the interpreter's lock. True when both sources tell the same code and lines for
// the calling thread's stack.
bool frames_agree();

}  // namespace dctx::monitor
