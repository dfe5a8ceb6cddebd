#pragma once
#include <cstdint>

namespace dctx::monitor {

struct ThreadRecord;

// Where the engine gets native frames from: the node below `parent` for the C and C++ frames of the
// calling thread between the event whose object lies at `inner` and the one around it, at `outer`
// (null: none). Events lie on the stack, in the frames that they describe.
using NativeSource = uint32_t (*)(ThreadRecord& record, uint32_t parent, const void* inner,
                                  const void* outer);

// When frames are read: for each pair of context and operator once, and likewise for calls of a
// device's interface; for the latter alone; or for every one of both.
enum class NativeWhen : uint8_t { once, launches, always };

// The node below `base` for the Python frames from `leaf` outwards to `stop` and the native frames
// of the same stretch of the stack, each where it was called.
using MergedSource = uint32_t (*)(ThreadRecord& record, uint32_t base, const void* leaf,
                                  const void* stop, const void* inner, const void* outer);

// The label of a native node.
constexpr uint64_t native_label(uint32_t module, uint64_t offset) {
  return uint64_t{module} << 40 | (offset & 0xffffffffffULL);
}
constexpr uint32_t native_module(uint64_t label) { return static_cast<uint32_t>(label >> 40); }
constexpr uint64_t native_offset(uint64_t label) { return label & 0xffffffffffULL; }

}  // namespace dctx::monitor
