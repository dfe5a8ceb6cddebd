#include "monitor/engine/listeners.hpp"
#include "monitor/engine/open_events.hpp"

namespace dctx::monitor {

void tell(const ThreadRecord& record, const OpenEvent& event, uint32_t what, int64_t now_ns,
          ForwardLink link) {
  if (event.kind == NodeKind::api) return;  // who made it tells of it, and more
  dctx_event told{};
  told.size = sizeof told;
  told.abi = DCTX_ABI;
  told.event = what;
  told.kind = static_cast<uint32_t>(event.kind);
  told.depth = static_cast<uint32_t>(record.open.size());
  told.name = Registry::instance().strings().text(event.label).data();
  told.identity = event.identity;
  told.sequence = link.sequence;
  told.forward_thread =
      link.thread == nullptr ? 0 : static_cast<int64_t>(link.thread->framework_thread.load());
  told.time_ns = now_ns;
  told.duration_ns = what == DCTX_END ? now_ns - event.begin_ns : 0;
  told.thread = record.os_thread.load(std::memory_order_relaxed);
  if (what != DCTX_STEP) {
    told.domain = DCTX_DOMAIN_FRAMEWORK;
    Listeners::instance().tell(told);
  }
  if (event.kind != NodeKind::scope) return;
  told.domain = DCTX_DOMAIN_USER;
  Listeners::instance().tell(told);
}

void after_end(const ThreadRecord& record, const OpenEvent& ended, int64_t now_ns) {
  if (ended.marks_step) Registry::instance().steps().mark(Registry::instance().end_of_step());
  if (Listeners::any()) {
    tell(record, ended, DCTX_END, now_ns);
    if (ended.marks_step) tell(record, ended, DCTX_STEP, now_ns);
  }
  if (ended.marks_step) tell_marker();
}

}  // namespace dctx::monitor
