#include "monitor/engine/events.hpp"

#include <algorithm>

#include "monitor/engine/open_events.hpp"

namespace dctx::monitor {
namespace {

void remove(std::vector<OpenEvent>& open, size_t at) {
  if (at + 1 == open.size()) {
    open.pop_back();
  } else {
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

OpenEvent take(std::vector<OpenEvent>& open, size_t at) {
  const OpenEvent event = open[at];
  remove(open, at);
  return event;
}

void end_usage(ThreadRecord& record, const OpenEvent& scope) {
  std::vector<OpenUsage>& open = record.open_usage;
  size_t at = open.size();
  while (at > 0 && open[at - 1].identity != scope.identity) --at;
  int64_t switches = 0;
  if (at > 0) {
    const ThreadUsage begin = open[at - 1].usage;
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at - 1));
    const ThreadUsage now = thread_usage();
    record.store.add_usage(scope.node, now.cpu_ns - begin.cpu_ns, now.faults - begin.faults);
    switches = now.switches - begin.switches;
  }
  if (!record.store.brief(scope.node)) {
    record.usage.end(scope.identity, scope.node, switches);
  } else {
    record.usage.end(scope.identity, scope.node, at > 0 ? ScopeUsage::kForget : 0);
  }
}

// As begin_operator(), with Python and native frames each where it was called.
void begin_merged(ThreadRecord& record, MergedSource merged, const void* identity, EventName name,
                  int64_t sequence) {
  const PythonSource* python = source();
  const void* leaf = python != nullptr ? python->leaf() : nullptr;
  const bool alone = record.open.empty();
  uint32_t base = alone ? 0 : record.open.back().base;
  PythonStop stop = alone ? PythonStop{} : record.open.back().python_stop;
  if (leaf != nullptr && stop.standing != 0) {
    const void* frame = leaf;
    while (frame != nullptr && frame != stop.frame) frame = python->caller(frame);
    if (frame == nullptr || python->standing(frame) != stop.standing) {
      Registry::instance().losses().add(Loss::detached);
      stop = {};
      base = 0;
    }
  }
  const uint32_t parent = merged(record, base, leaf == stop.frame ? nullptr : leaf, stop.frame,
                                 identity, outer_identity(record));
  const uint32_t node = record.store.child(parent, NodeKind::op, name.label, 0);
  if (sequence >= 0) record.forward.store(static_cast<uint64_t>(sequence), node);
  uint32_t place = parent;  // time before the event is the Python line's
  while (place != base && record.store.kind(place) == NodeKind::native) {
    place = record.store.parent(place);
  }
  push(record, {identity, {leaf}, node, node, name, NodeKind::op}, place, {nullptr, sequence});
}

}  // namespace

void begin_operator(ThreadRecord& record, const void* identity, EventName name, int64_t sequence) {
  if (const MergedSource merged = engine_state.merged.load(std::memory_order_relaxed);
      merged != nullptr) {
    begin_merged(record, merged, identity, name, sequence);
    return;
  }
  const Place place = place_of_operator(record);
  const uint32_t parent = with_native_frames(record, place.node, name.label, identity);
  const uint32_t node = record.store.child(parent, NodeKind::op, name.label, 0);
  if (sequence >= 0) record.forward.store(static_cast<uint64_t>(sequence), node);
  push(record, {identity, {place.leaf}, node, node, name, NodeKind::op}, place.node,
       {nullptr, sequence});
}

void begin_scope(ThreadRecord& record, const void* identity, EventName name) {
  const PythonSource* python = source();
  const bool alone = record.open.empty();
  const PythonStop stop = alone ? PythonStop{} : record.open.back().python_stop;
  const uint32_t base = alone ? 0 : record.open.back().base;
  const void* leaf = python != nullptr ? python->leaf() : nullptr;
  uint32_t parent = base;
  PythonStop scope_stop{leaf};
  if (leaf != nullptr && (alone || leaf != stop.frame)) {
    const void* frame = python->scope_frame(record, leaf, stop.frame);
    parent = python->path(record, base, frame, stop);
    // Later events of the same function lie in the scope, with their own lines.
    scope_stop.frame = python->caller(frame);
  } else if (leaf != nullptr) {
    parent = python->path(record, base, leaf, stop);
  }
  if (scope_stop.frame != nullptr) scope_stop.standing = python->standing(scope_stop.frame);
  const uint32_t node = record.store.child(parent, NodeKind::scope, name.label, 0);
  if (Registry::measures_usage()) {
    if (!record.store.brief(node)) record.open_usage.push_back({identity, thread_usage()});
    record.usage.begin(identity);
  }
  push(record, {identity, scope_stop, node, node, name, NodeKind::scope}, parent);
}

uint32_t begin_api(ThreadRecord& record, const void* identity, EventName name, const void* frame) {
  const Place place = place_of_operator(record);
  const uint32_t parent = with_native_frames(record, place.node, name.label, frame, true);
  const uint32_t node = record.store.child(parent, NodeKind::api, name.label, 0);
  push(record, {identity, {place.leaf}, node, node, name, NodeKind::api}, place.node);
  return node;
}

bool end_event(ThreadRecord& record, const void* identity) {
  const int64_t now_ns = Clock::now_ns();
  std::vector<OpenEvent>& open = record.open;
  size_t at = open.size();
  while (at > 0 && open[at - 1].identity != identity) --at;
  if (at == 0) {
    if (record.dropped_begins > 0) {
      --record.dropped_begins;
    } else {
      Registry::instance().losses().add(Loss::late_ends);
    }
    return false;
  }
  OpenEvent& event = open[at - 1];
  if (event.node == kNoNode) settle(record, event, event.base);
  const int64_t duration_ns = std::max<int64_t>(now_ns - event.begin_ns, 0);
  int64_t self_ns = duration_ns - event.child_ns;
  if (self_ns < 0) {
    Registry::instance().losses().add(Loss::clamped_self);
    self_ns = 0;
  }
  record.store.add(event.node, duration_ns, self_ns);
  if (event.arguments != kNoNode) record.arguments.add(event.arguments, duration_ns);
  if (at > 1) {
    open[at - 2].child_ns += duration_ns;
  } else {
    record.store.add_top_level(duration_ns);
  }
  if (event.kind == NodeKind::scope && Registry::measures_usage()) end_usage(record, event);
  record.last_event_ns = now_ns;
  if (event.marks_step || Listeners::any()) {
    after_end(record, take(open, at - 1), now_ns);
    return true;
  }
  remove(open, at - 1);
  return true;
}

}  // namespace dctx::monitor
