#include "monitor/engine/events.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <string>

#include "monitor/engine/clock.hpp"
#include "monitor/engine/listeners.hpp"
#include "monitor/engine/native_source.hpp"
#include "monitor/engine/python_source.hpp"
#include "tree/name_key.hpp"

namespace dctx::monitor {
namespace {

constexpr int64_t kLongestGapNs = 10'000'000'000;
constexpr std::string_view kEvaluation = "autograd::engine::evaluate_function: ";
constexpr std::string_view kStep = "Optimizer.step#";

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

struct Place {
  uint32_t node;
  const void* leaf;
};

const PythonSource* source() { return python_source.load(std::memory_order_acquire); }

// Where an event that begins now hangs: below the event around it, with the Python frames that run
// between the two.
Place place_of_operator(ThreadRecord& record) {
  const PythonSource* python = source();
  const void* leaf = python != nullptr ? python->leaf() : nullptr;
  if (record.open.empty()) {
    return {leaf != nullptr ? python->path(record, 0, leaf, {}) : 0, leaf};
  }
  const OpenEvent& around = record.open.back();
  const PythonStop stop = around.python_stop;
  if (leaf == nullptr || (leaf == stop.frame && stop.standing == 0)) return {around.base, leaf};
  return {python->path(record, around.base, leaf, stop), leaf};
}

// The object of the innermost event that lies on the stack; null without one.
const void* outer_identity(const ThreadRecord& record) {
  for (size_t i = record.open.size(); i-- > 0;) {
    const OpenEvent& event = record.open[i];
    const bool on_stack = event.kind != NodeKind::scope && event.kind != NodeKind::api;
    if (on_stack) return event.identity;
  }
  return nullptr;
}

// The node that an operator, or a call of a device's interface, hangs from when native frames are
// captured.
uint32_t with_native_frames(ThreadRecord& record, uint32_t place, uint32_t label,
                            const void* identity, bool launches = false) {
  const NativeSource native = native_source.load(std::memory_order_relaxed);
  if (native == nullptr) return place;
  const NativeWhen when = native_when.load(std::memory_order_relaxed);
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

// The scope ended that the user named as the end of steps.
void tell_marker() {
  if (Registry::instance().step_marker() == 0) return;
  const auto told = marker_ended.load(std::memory_order_acquire);
  if (told != nullptr) told();
}

void tell(const ThreadRecord& record, const OpenEvent& event, uint32_t what, int64_t now_ns,
          ForwardLink link = {}) {
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

// What others than the tree learn of an event that has ended.
void after_end(const ThreadRecord& record, const OpenEvent& ended, int64_t now_ns) {
  if (ended.marks_step) Registry::instance().steps().mark(Registry::instance().moment());
  if (Listeners::any()) {
    tell(record, ended, DCTX_END, now_ns);
    if (ended.marks_step) tell(record, ended, DCTX_STEP, now_ns);
  }
  if (ended.marks_step) tell_marker();
}

// A signal handler that samples this thread reads the open events: it must not see them move.
[[gnu::cold, gnu::noinline]] void grow(std::vector<OpenEvent>& open) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  open.reserve(open.capacity() * 2);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

[[gnu::cold, gnu::noinline]] void drop_begin(ThreadRecord& record) {
  Registry::instance().losses().add(Loss::too_deep);
  ++record.dropped_begins;
}

// Inlined where events begin: what it is given is then built where it is kept.
[[gnu::always_inline]] inline void push(ThreadRecord& record, const OpenEvent& begun,
                                        uint32_t place, ForwardLink link = {}) {
  if (record.open.size() >= ThreadRecord::kMaxDepth) {
    drop_begin(record);
    return;
  }
  const bool outermost = record.open.empty() || record.open.back().kind == NodeKind::scope;
  if (record.open.size() == record.open.capacity()) grow(record.open);
  record.open.push_back(begun);
  OpenEvent& event = record.open.back();
  event.begin_ns = Clock::now_ns();
  if (outermost && record.last_event_ns != 0) {
    const int64_t gap_ns = event.begin_ns - record.last_event_ns;
    if (gap_ns > 0) record.store.add_host_gap(place, std::min(gap_ns, kLongestGapNs));
  }
  if (event.kind == NodeKind::scope) record.last_event_ns = event.begin_ns;
  // A copy: what a listener does may move the open events.
  if (Listeners::any()) tell(record, OpenEvent(event), DCTX_BEGIN, event.begin_ns, link);
}

OpenEvent event_of(const void* identity, PythonStop python_stop, uint32_t node, EventName name,
                   NodeKind kind) {
  OpenEvent event{};
  event.identity = identity;
  event.python_stop = python_stop;
  event.node = node;
  event.base = node;
  event.label = name.label;
  event.kind = kind;
  event.marks_step = name.marks_step;
  return event;
}

// The node of this thread for a node of another one: its path is made again.
uint32_t own_node(ThreadRecord& record, const ThreadRecord& other, uint32_t node) {
  if (node == 0) return 0;
  const uint64_t key = uint64_t{other.index} << 32 | node;
  const auto known = record.foreign_nodes.find(key);
  if (known != record.foreign_nodes.end()) return known->second;
  std::vector<uint32_t> path;
  for (uint32_t at = node; at != 0; at = other.store.parent(at)) path.push_back(at);
  uint32_t own = 0;
  for (size_t i = path.size(); i-- > 0;) {
    const NodeView view = other.store.view(path[i]);
    own = record.store.child(own, view.kind, view.label, view.line);
  }
  record.foreign_nodes.emplace(key, own);
  return own;
}

// The forward operator's node in this thread's tree, or kNoNode.
uint32_t forward_node(ThreadRecord& record, ForwardLink link) {
  if (link.sequence < 0) return kNoNode;
  uint32_t node = 0;
  if (link.thread == nullptr ||
      !link.thread->forward.find(static_cast<uint64_t>(link.sequence), &node)) {
    Registry::instance().losses().add(Loss::association_misses);
    return kNoNode;
  }
  return link.thread == &record ? node : own_node(record, *link.thread, node);
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

// Gives an evaluation that waits its node: below `parent`.
void settle(ThreadRecord& record, OpenEvent& evaluation, uint32_t parent) {
  const uint32_t ran_at = parent == evaluation.base ? kNoNode : evaluation.base;
  evaluation.node = record.store.child(parent, NodeKind::backward_op, evaluation.label, 0, ran_at);
  evaluation.base = evaluation.node;
}

}  // namespace

EventName operator_name(ThreadRecord& record, const char* name) {
  return record.names.find(name, [](std::string_view text, std::string_view* kept) {
    StringTable& strings = Registry::instance().strings();
    const uint32_t label = strings.intern(text);
    *kept = strings.text(label);
    return EventName{label, starts_with(text, kEvaluation), false};
  });
}

uint32_t scope_label(std::string_view name) {
  std::string key;
  name_key(name, key);
  return Registry::instance().strings().intern(key);
}

EventName scope_name(ThreadRecord& record, const char* name) {
  const std::string_view text = name != nullptr ? name : "";
  return record.scope_names.find(text, Registry::step_marker(), [&] {
    const uint32_t label = scope_label(text);
    const uint32_t marker = Registry::step_marker();
    return EventName{label, false, marker != 0 ? label == marker : starts_with(text, kStep)};
  });
}

void scope_ended_unrecorded(const char* name) {
  if (marker_ended.load(std::memory_order_relaxed) == nullptr) return;
  const uint32_t marker = Registry::instance().step_marker();
  if (marker != 0 && marker == scope_label(name != nullptr ? name : "")) tell_marker();
}

namespace {

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
  push(record, event_of(identity, {leaf}, node, name, NodeKind::op), place, {nullptr, sequence});
}

}  // namespace

void begin_operator(ThreadRecord& record, const void* identity, EventName name, int64_t sequence) {
  if (const MergedSource merged = merged_source.load(std::memory_order_relaxed);
      merged != nullptr) {
    begin_merged(record, merged, identity, name, sequence);
    return;
  }
  const Place place = place_of_operator(record);
  const uint32_t parent = with_native_frames(record, place.node, name.label, identity);
  const uint32_t node = record.store.child(parent, NodeKind::op, name.label, 0);
  if (sequence >= 0) record.forward.store(static_cast<uint64_t>(sequence), node);
  push(record, event_of(identity, {place.leaf}, node, name, NodeKind::op), place.node,
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
  push(record, event_of(identity, scope_stop, node, name, NodeKind::scope), parent);
}

void begin_backward(ThreadRecord& record, const void* identity, EventName name, ForwardLink link) {
  const Place place = place_of_operator(record);
  const uint32_t forward = forward_node(record, link);
  OpenEvent* around = record.open.empty() ? nullptr : &record.open.back();
  uint32_t parent = forward != kNoNode ? forward : place.node;
  if (around != nullptr && around->node == kNoNode && place.node == around->base) {
    settle(record, *around, parent);
    parent = around->node;
  }
  const uint32_t ran_at = parent == place.node || forward == kNoNode ? kNoNode : place.node;
  const uint32_t node = record.store.child(parent, NodeKind::backward_op, name.label, 0, ran_at);
  push(record, event_of(identity, {place.leaf}, node, name, NodeKind::backward_op), place.node,
       link);
}

void begin_evaluation(ThreadRecord& record, const void* identity, EventName name) {
  const Place place = place_of_operator(record);
  OpenEvent event = event_of(identity, {place.leaf}, kNoNode, name, NodeKind::backward_op);
  event.base = place.node;
  push(record, event, place.node);
}

uint32_t begin_api(ThreadRecord& record, const void* identity, EventName name, const void* frame) {
  const Place place = place_of_operator(record);
  const uint32_t parent = with_native_frames(record, place.node, name.label, frame, true);
  const uint32_t node = record.store.child(parent, NodeKind::api, name.label, 0);
  push(record, event_of(identity, {place.leaf}, node, name, NodeKind::api), place.node);
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
