#include "monitor/gpu/told.hpp"

#include <algorithm>

#include "monitor/engine/clock.hpp"
#include "monitor/engine/listeners.hpp"
#include "monitor/engine/registry.hpp"

namespace dctx::monitor::gpu {
namespace {

dctx_event event_of(uint32_t what, NodeKind kind, const char* name, uint64_t context) {
  dctx_event event{};
  event.size = sizeof event;
  event.abi = DCTX_ABI;
  event.domain = DCTX_DOMAIN_GPU;
  event.event = what;
  event.kind = static_cast<uint32_t>(kind);
  event.name = name;
  event.symbol = "";
  event.sequence = -1;
  event.context = context;
  return event;
}

NodeKind node_kind(WorkKind kind) {
  switch (kind) {
    case WorkKind::copy:
      return NodeKind::memcpy;
    case WorkKind::set:
      return NodeKind::memset;
    default:
      return NodeKind::kernel;
  }
}

}  // namespace

void tell_call(const ApiCall& call, OpenCall& open, bool begins) noexcept try {
  const int64_t now_ns = Clock::now_ns();
  StringTable& strings = Registry::instance().strings();
  const char* const name = strings.text(strings.intern(call.name)).data();
  dctx_event event = event_of(begins ? DCTX_BEGIN : DCTX_END, NodeKind::api, name, open.context);
  event.correlation = call.correlation;
  event.stream = call.stream;
  if (call.symbol != nullptr) event.symbol = strings.text(strings.intern(call.symbol)).data();
  event.time_ns = now_ns;
  if (begins) open.begin_ns = now_ns;
  event.duration_ns = !begins && open.begin_ns != 0 ? now_ns - open.begin_ns : 0;
  const ThreadRecord* const record = Registry::instance().current_if_any();
  if (record != nullptr) {
    event.thread = record->os_thread.load(std::memory_order_relaxed);
    event.depth = static_cast<uint32_t>(record->open.size());
  }
  Listeners::instance().tell(event);
} catch (...) {
  return;  // memory is out: listeners miss it
}

void tell_work(const WorkRecord& record, const WorkKey& key) {
  const char* const name = Registry::instance().strings().text(key.name).data();
  dctx_event event = event_of(DCTX_END, node_kind(record.kind), name, key.context);
  event.time_ns = record.end_ns;
  event.duration_ns = record.end_ns - record.begin_ns;
  event.correlation = record.correlation;
  event.stream = record.stream;
  event.bytes = record.bytes;
  event.graph_node = record.graph_node;
  event.device = record.device;
  std::copy(record.grid, record.grid + 3, event.grid);
  std::copy(record.block, record.block + 3, event.block);
  event.registers = record.registers;
  event.shared_bytes = record.shared_bytes;
  Listeners::instance().tell(event);
}

}  // namespace dctx::monitor::gpu
