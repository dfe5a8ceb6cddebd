#pragma once
#include <cstdint>

#include "monitor/engine/thread_record.hpp"

namespace dctx::monitor {

// Where the engine gets Python frames from. A frame is told by its address; it stays valid while
// the calling thread is inside a hook. No function needs the interpreter's lock.
struct PythonSource {
  // The innermost frame of the calling thread; null without one.
  const void* (*leaf)();
  // The same, before it is known whether its code has begun to run: begun() tells the leaf.
  const void* (*innermost)();
  const void* (*begun)(const void* frame);
  // The frame's caller; null for the outermost.
  const void* (*caller)(const void* frame);
  // The first frame from `leaf` outwards that is not a framework's own code for opening a scope.
  // Does not go beyond `stop`.
  const void* (*scope_frame)(ThreadRecord& record, const void* leaf, const void* stop);
  // The node below `base` for the frames from `leaf` outwards to that of `stop`, which is not
  // included (null: all frames). When it is not met, or is another one by now: the node below the
  // thread, counted as detached.
  uint32_t (*path)(ThreadRecord& record, uint32_t base, const void* leaf, PythonStop stop);
  // Never 0; stays the same while `frame` runs, whatever line: made of its code, and of where all
  // its callers are. Generators change it with who resumes them.
  uint64_t (*standing)(const void* frame);
  // The frame was called from C, not by the frame around it.
  bool (*from_c)(const void* frame);
  // The node below `parent` for one frame; `parent` for one that says nothing anywhere.
  uint32_t (*child)(ThreadRecord& record, uint32_t parent, const void* frame);
};

}  // namespace dctx::monitor
