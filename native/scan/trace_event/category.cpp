#include "scan/trace_event/category.hpp"

namespace dctx::trace_event {
namespace {

struct Known {
  std::string_view name;
  EventClass event_class;
};

constexpr Known kKnown[] = {
    {"cpu_op", EventClass::Op},
    {"Operator", EventClass::Op},
    {"user_annotation", EventClass::Annotation},
    {"python_function", EventClass::Python},
    {"cuda_runtime", EventClass::Runtime},
    {"Runtime", EventClass::Runtime},
    {"xpu_runtime", EventClass::Runtime},
    {"mtia_runtime", EventClass::Runtime},
    {"privateuse1_runtime", EventClass::Runtime},
    {"glow_runtime", EventClass::Runtime},
    {"cuda_driver", EventClass::Driver},
    {"xpu_driver", EventClass::Driver},
    {"privateuse1_driver", EventClass::Driver},
    {"kernel", EventClass::Kernel},
    {"Kernel", EventClass::Kernel},
    {"gpu_memcpy", EventClass::Memcpy},
    {"Memcpy", EventClass::Memcpy},
    {"gpu_memset", EventClass::Memset},
    {"Memset", EventClass::Memset},
    {"mtia_ccp_events", EventClass::Accelerator},
    {"hpu_op", EventClass::Accelerator},
    {"collective_comm", EventClass::Accelerator},
    {"cuda_sync", EventClass::Sync},
    {"cuda_event", EventClass::Sync},
    {"xpu_sync", EventClass::Sync},
    {"gpu_user_annotation", EventClass::Span},
    {"cpu_instant_event", EventClass::MemoryInstant},
    {"overhead", EventClass::Overhead},
    {"Trace", EventClass::Window},
    {"cuda_profiler_range", EventClass::Range},
    {"hardware_counters", EventClass::Range},
    {"xpu_scope_profiler", EventClass::Range},
    {"mtia_counters", EventClass::Range},
};

}  // namespace

EventClass class_of(std::string_view category) {
  for (const Known& known : kKnown) {
    if (known.name == category) return known.event_class;
  }
  return EventClass::Other;
}

bool is_launch_flow(std::string_view category) {
  return category == kLaunchFlow || category.substr(0, 5) == "async";
}

}  // namespace dctx::trace_event
