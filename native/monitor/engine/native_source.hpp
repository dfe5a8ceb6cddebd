#pragma once
#include <atomic>
#include <cstdint>

#include "monitor/engine/thread_record.hpp"

namespace dctx::monitor {

// Where the engine gets native frames from: the node below `parent` for the C and C++ frames of the
// calling thread between the event whose object lies at `inner` and the one around it, at `outer`
// (null: none). Events lie on the stack, in the frames that they describe.
using NativeSource = uint32_t (*)(ThreadRecord& record, uint32_t parent, const void* inner,
                                  const void* outer);

// The process's source, null while native frames are not captured.
inline std::atomic<NativeSource> native_source{nullptr};

// The label of a native node.
constexpr uint64_t native_label(uint32_t module, uint64_t offset) {
  return uint64_t{module} << 40 | (offset & 0xffffffffffULL);
}
constexpr uint32_t native_module(uint64_t label) { return static_cast<uint32_t>(label >> 40); }
constexpr uint64_t native_offset(uint64_t label) { return label & 0xffffffffffULL; }

}  // namespace dctx::monitor
