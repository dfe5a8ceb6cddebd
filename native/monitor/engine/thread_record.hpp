#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "monitor/engine/allocations.hpp"
#include "monitor/engine/arguments.hpp"
#include "monitor/engine/caches.hpp"
#include "monitor/engine/clock.hpp"
#include "monitor/engine/forward_ring.hpp"
#include "monitor/engine/scope_usage.hpp"
#include "monitor/engine/thread_store.hpp"

namespace dctx::monitor {

// The Python frame that ran when an event began; those inner to it were called by the event.
struct PythonStop {
  const void* frame = nullptr;
  // Of scopes, which may outlive the frame: what PythonSource::standing told of it, so that another
  // frame at its address is not taken for it. An operator runs on top of its frame: 0, not checked.
  uint64_t standing = 0;
};

// An event that has begun. Events end by identity: scopes may overlap, so the last one begun is
// not always the first to end.
struct alignas(64) OpenEvent {  // a cache line
  // Built where it is kept: a copy would wait for what was just written.
  OpenEvent(const void* who, PythonStop stop, uint32_t own, uint32_t inside, EventName name,
            NodeKind what, int64_t now_ns)
      : identity(who),
        python_stop(stop),
        begin_ns(now_ns),
        node(own),
        base(inside),
        label(name.label),
        kind(what),
        marks_step(name.marks_step) {}

  const void* identity;
  PythonStop python_stop;
  int64_t begin_ns;
  int64_t child_ns = 0;
  uint32_t node;  // kNoNode while an evaluation waits for the backward operator that places it
  uint32_t base;  // what events inside hang from
  uint32_t label;
  uint32_t arguments = kNoNode;  // row of the thread's ArgumentLog
  NodeKind kind;
  bool marks_step = false;
};

// What the thread had used when a scope began that is measured.
struct OpenUsage {
  const void* identity;
  ThreadUsage usage;
};

// What the hooks cost: one call in kEvery is timed.
struct HookCost {
  static constexpr uint64_t kEvery = 256;
  // A hook takes less, also where it meets a path for the first time: what took longer was
  // interrupted.
  static constexpr int64_t kLongestNs = 50'000;

  std::atomic<uint64_t> calls{0};
  std::atomic<int64_t> timed_ns{0};  // of calls / kEvery calls

  // Counts a call; true when it is one to time.
  bool next() {
    const uint64_t number = calls.load(std::memory_order_relaxed) + 1;
    calls.store(number, std::memory_order_relaxed);
    return number % kEvery == 0;
  }
  // Of all calls, from those that were timed.
  int64_t estimated_ns() const {
    const uint64_t all = calls.load(std::memory_order_relaxed);
    const uint64_t timed = all / kEvery;
    if (timed == 0) return 0;
    const double each =
        static_cast<double>(timed_ns.load(std::memory_order_relaxed)) / static_cast<double>(timed);
    return static_cast<int64_t>(each * static_cast<double>(all));
  }
  void add(int64_t ns) {
    const int64_t all = timed_ns.load(std::memory_order_relaxed);
    timed_ns.store(all + std::min(ns, kLongestNs), std::memory_order_relaxed);
  }
};

// All that the hooks know of one thread. Only the thread itself touches it, but for what is said
// to be readable. A record outlives its thread; a later thread of the same name takes it over, and
// any later thread when the trees have been forgotten meanwhile.
struct alignas(64) ThreadRecord {
  static constexpr size_t kMaxDepth = 16'384;

  ThreadRecord(NodeBudget& budget, LossCounters& losses, uint32_t name_id, uint32_t number)
      : store(budget, losses, name_id), name(name_id), index(number) {}

  // Owner: forgets its tree for one of a thread with that name. Its memory stays for the new one.
  void begin_anew(uint32_t name_id);

  // What every event needs comes first, side by side.
  uint32_t generation = 0;  // of the recording that the open events belong to
  uint32_t dropped_begins = 0;
  int64_t last_event_ns = 0;
  HookCost cost;                              // readable
  std::atomic<uint64_t> framework_thread{0};  // readable: torch's logical thread id, 0 is none
  std::vector<OpenEvent> open;
  NameCache names;
  ForwardRing forward;  // readable
  RecentPaths recent_paths;
  ThreadStore store;  // readable

  std::atomic<uint32_t> name;         // readable: string id
  const uint32_t index;               // readable: among the records of the process
  ArgumentLog arguments;              // readable
  AllocationLog allocations;          // readable
  ScopeUsage usage;                   // readable
  std::atomic<int64_t> os_thread{0};  // readable: kernel thread id of the latest owner

  // Readable: of the trees that the store belongs to. What the record says before it is that of
  // the registry belongs to trees that are forgotten.
  std::atomic<uint32_t> epoch{0};

  std::vector<OpenUsage> open_usage;
  ScopeNames scope_names;
  PathCache paths;
  CodeCache codes;
  int native_depth = 0;     // return addresses to ask for
  PathCache native_places;  // (context, operator), or (context, frames) → what it hangs from
  std::unordered_map<uint64_t, uint32_t> foreign_nodes;  // (thread, its node) → node of this thread
};

}  // namespace dctx::monitor
