#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dctx::monitor {

// What a node of the calling context tree stands for. The values are written to recordings: only
// append.
enum class NodeKind : uint8_t {
  root,
  thread,  // label: the thread's name (string id)
  python,  // label: code id; line: the line that runs
  scope,   // label: name (string id); so below unless told
  op,
  backward_op,
  native,  // label: native_label()
  api,
  memcpy,
  memset,
  kernel,
  instruction,
  hlo_op,
  fused,
  other,   // contexts beyond the cap on nodes; label 0
  elided,  // the outer frames of a very deep stack; label 0
  launch_not_recorded,
};

constexpr uint32_t kNoNode = 0xffffffffU;

// The identity of a node; it never changes.
struct NodeView {
  uint32_t parent;     // kNoNode for the root of a thread
  uint32_t alternate;  // where a backward operator ran, when its parent is its forward operator; or
                       // kNoNode
  NodeKind kind;
  uint64_t label;
  int32_t line;
};

// Exclusive values of a node since the recording began. While the owner runs they may be one event
// apart from each other.
struct MetricView {
  uint64_t count;   // events that ended
  int64_t sum_ns;   // their durations, children included
  int64_t self_ns;  // … without the events inside them
  int64_t min_ns;   // of the durations; 0 when count is 0
  int64_t max_ns;
  double sum_sq;        // of the durations, in ns²
  int64_t host_gap_ns;  // Python time before events that begin right below this node; the longest
                        // of it is max_ns of a Python function, which has no events, if ≥ 1 ms
  // Measured for scopes only, and only of those whose events are long enough for it
  // (ThreadStore::kBriefNs); else 0:
  int64_t cpu_ns;  // thread CPU time
  int64_t faults;  // page faults, minor and major
  int64_t bytes;   // moved by copies
};

// One row of a thread's store. Written by the owner with plain loads and relaxed stores: no other
// thread writes, and a reader never sees half a value. What every event touches lies in the first
// of two cache lines.
struct alignas(64) NodeRow {
  std::atomic<uint32_t> parent;
  std::atomic<NodeKind> kind;
  bool has_line;  // line is not 0
  bool brief;     // owner's: a scope too short for its usage to be measured
  std::atomic<uint64_t> label;
  std::atomic<uint64_t> count;
  std::atomic<int64_t> sum_ns;
  std::atomic<int64_t> self_ns;
  std::atomic<int64_t> min_ns;
  std::atomic<int64_t> max_ns;
  std::atomic<double> sum_sq;

  std::atomic<int32_t> line;
  std::atomic<uint32_t> alternate;
  std::atomic<int64_t> host_gap_ns;
  std::atomic<int64_t> cpu_ns;
  std::atomic<int64_t> faults;
  std::atomic<int64_t> bytes;
};
static_assert(offsetof(NodeRow, line) == 64 && sizeof(NodeRow) == 128);

}  // namespace dctx::monitor
