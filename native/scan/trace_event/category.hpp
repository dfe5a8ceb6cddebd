#pragma once
// Which table an event's category puts it in.
#include <cstdint>
#include <string_view>

namespace dctx::trace_event {

enum class EventClass : uint8_t {
  Op,
  Annotation,
  Python,
  Runtime,
  Driver,
  Kernel,
  Memcpy,
  Memset,
  Accelerator,
  Sync,
  Span,
  MemoryInstant,
  Overhead,
  Window,
  Range,
  Other,
};

EventClass class_of(std::string_view category);

// Flows from a launch to its GPU operation: they repeat the correlation.
bool is_launch_flow(std::string_view category);

// The present name of them: the end has the time and the correlation of the GPU operation.
constexpr std::string_view kLaunchFlow = "ac2g";

}  // namespace dctx::trace_event
