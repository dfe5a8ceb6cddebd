#pragma once
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <vector>

#include "monitor/engine/clock.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/engine/listeners.hpp"
#include "monitor/engine/python_source.hpp"

// What the functions share that begin and end events: the events of a thread that are open.
namespace dctx::monitor {

struct Place {
  uint32_t node;
  const void* leaf;
};

inline const PythonSource* source() { return engine_state.python.load(std::memory_order_acquire); }

// Where an event that begins now hangs: below the event around it, with the Python frames that run
// between the two.
inline Place place_of_operator(ThreadRecord& record) {
  const PythonSource* python = source();
  const void* innermost = python != nullptr ? python->innermost() : nullptr;
  const bool alone = record.open.empty();
  const uint32_t base = alone ? 0 : record.open.back().base;
  const PythonStop stop = alone ? PythonStop{} : record.open.back().python_stop;
  // The usual case: an operator calls another one. The frame has begun, as the stop has.
  if (innermost == nullptr || (innermost == stop.frame && stop.standing == 0)) {
    return {base, innermost};
  }
  const void* leaf = python->begun(innermost);
  if (leaf == nullptr || (leaf == stop.frame && stop.standing == 0)) return {base, leaf};
  return {python->path(record, base, leaf, stop), leaf};
}

// The object of the innermost event that lies on the stack; null without one.
inline const void* outer_identity(const ThreadRecord& record) {
  for (size_t i = record.open.size(); i-- > 0;) {
    const OpenEvent& event = record.open[i];
    const bool on_stack = event.kind != NodeKind::scope && event.kind != NodeKind::api;
    if (on_stack) return event.identity;
  }
  return nullptr;
}

// The node that an operator, or a call of a device's interface, hangs from when native frames are
// captured.
inline uint32_t with_native_frames(ThreadRecord& record, uint32_t place, uint32_t label,
                                   const void* identity, bool launches = false) {
  const NativeSource native = engine_state.native.load(std::memory_order_relaxed);
  if (native == nullptr) return place;
  const NativeWhen when = engine_state.native_when.load(std::memory_order_relaxed);
  if (when == NativeWhen::launches && !launches) return place;
  const void* const outer = outer_identity(record);
  if (when == NativeWhen::always) return native(record, place, identity, outer);
  // The cache's second and third key are the pair itself: a hit is exact.
  const uint64_t key = mix_bits(uint64_t{place} << 32 | label);
  const void* const op = reinterpret_cast<const void*>(uintptr_t{label});
  const uint32_t known = record.native_places.find(key, place, op);
  if (known != kNoNode) return known;
  const uint32_t node = native(record, place, identity, outer);
  record.native_places.insert(key, place, op, node);
  return node;
}

// What others than the tree learn of an event that began or ended.
void tell(const ThreadRecord& record, const OpenEvent& event, uint32_t what, int64_t now_ns,
          ForwardLink link = {});
// Of one that ended and was taken from the open ones.
void after_end(const ThreadRecord& record, const OpenEvent& ended, int64_t now_ns);
// The scope ended that the user named as the end of steps.
void tell_marker();

// A signal handler that samples this thread reads the open events: it must not see them move.
[[gnu::cold, gnu::noinline]] inline void grow(std::vector<OpenEvent>& open) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  open.reserve(open.capacity() * 2);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

[[gnu::cold, gnu::noinline]] inline void drop_begin(ThreadRecord& record) {
  Registry::instance().losses().add(Loss::too_deep);
  ++record.dropped_begins;
}

constexpr int64_t kLongestGapNs = 10'000'000'000;

// An event as it begins.
struct Begun {
  const void* identity;
  PythonStop python_stop;
  uint32_t node;
  uint32_t base;  // what events inside hang from
  EventName name;
  NodeKind kind;
};

// Inlined where events begin: what it is given stays in registers. `place`: what the time since the
// event before belongs to.
[[gnu::always_inline]] inline void push(ThreadRecord& record, Begun begun, uint32_t place,
                                        ForwardLink link = {}) {
  if (record.open.size() >= ThreadRecord::kMaxDepth) {
    drop_begin(record);
    return;
  }
  const bool outermost = record.open.empty() || record.open.back().kind == NodeKind::scope;
  if (record.open.size() == record.open.capacity()) grow(record.open);
  const int64_t now_ns = Clock::now_ns();
  record.open.emplace_back(begun.identity, begun.python_stop, begun.node, begun.base, begun.name,
                           begun.kind, now_ns);
  if (outermost && record.last_event_ns != 0) {
    const int64_t gap_ns = now_ns - record.last_event_ns;
    if (gap_ns > 0) record.store.add_host_gap(place, std::min(gap_ns, kLongestGapNs));
  }
  if (begun.kind == NodeKind::scope) record.last_event_ns = now_ns;
  // A copy: what a listener does may move the open events.
  if (Listeners::any()) tell(record, OpenEvent(record.open.back()), DCTX_BEGIN, now_ns, link);
}

// Gives an evaluation that waits its node: below `parent`.
inline void settle(ThreadRecord& record, OpenEvent& evaluation, uint32_t parent) {
  const uint32_t ran_at = parent == evaluation.base ? kNoNode : evaluation.base;
  evaluation.node = record.store.child(parent, NodeKind::backward_op, evaluation.label, 0, ran_at);
  evaluation.base = evaluation.node;
}

}  // namespace dctx::monitor
