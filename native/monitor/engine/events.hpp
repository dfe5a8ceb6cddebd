#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

#include "monitor/engine/registry.hpp"

namespace dctx::monitor {

// What the hooks call, on the thread of the event. `identity` tells an event from all others that
// are open on the thread. None of these throws.

// Interns a name: numbers that differ from call to call become `#` in the names of scopes.
EventName operator_name(ThreadRecord& record, const char* name);
EventName scope_name(ThreadRecord& record, const char* name);
// The label of scopes with this name; 0 for no name.
uint32_t scope_label(std::string_view name);

struct ForwardLink {
  ThreadRecord* thread = nullptr;  // of the forward operator; null when it is not known
  int64_t sequence = -1;           // autograd's number; −1 when it has none
};

void begin_operator(ThreadRecord& record, const void* identity, EventName name, int64_t sequence);
void begin_scope(ThreadRecord& record, const void* identity, EventName name);
// A backward operator: it hangs from its forward operator where that is known.
void begin_backward(ThreadRecord& record, const void* identity, EventName name, ForwardLink link);
// The engine's frame around one backward operator: goes where that goes.
void begin_evaluation(ThreadRecord& record, const void* identity, EventName name);
// A call of a device's programming interface; `identity` as above, `frame` is an address in the
// stack frame of the call: native frames are those outside of it. Returns its node, from which the
// work hangs that it launches.
uint32_t begin_api(ThreadRecord& record, const void* identity, EventName name, const void* frame);
// A scope ended while nothing is recorded: steps are counted all the same, where the named scope
// ends them and someone asked to be told.
void scope_ended_unrecorded(const char* name);

// Told of each end of the scope that ends steps, on its thread, whether or not it is recorded.
// Null: nobody needs to know.
inline std::atomic<void (*)()> marker_ended{nullptr};

// False, and counted, when no such event is open.
bool end_event(ThreadRecord& record, const void* identity);

}  // namespace dctx::monitor
