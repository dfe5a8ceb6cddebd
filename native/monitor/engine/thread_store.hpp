#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "monitor/engine/loss.hpp"
#include "monitor/engine/node.hpp"
#include "monitor/engine/published.hpp"

namespace dctx::monitor {

// The nodes of the process, over all threads, and how many there may be.
struct NodeBudget {
  std::atomic<uint64_t> used{0};
  std::atomic<uint64_t> limit{2'000'000};
};

// What a node takes in memory: its row, its places in the table of identities (which is at least a
// quarter full), and what the recorder remembers of it.
constexpr uint64_t kNodeBytes = sizeof(NodeRow) + 4 * 2 * sizeof(uint32_t) + sizeof(uint64_t);

// The calling context tree of one thread: node 0 is the thread. Only its owner writes; any thread
// may read nodes below node_count(), without a lock. Nodes never move and are never removed.
class ThreadStore {
 public:
  // `name`: string id of the thread's name.
  ThreadStore(NodeBudget& budget, LossCounters& losses, uint64_t name);

  // ---- owner only. Ids are those of this store.

  // Forgets all nodes. Memory stays for those to come; a reader that still looks at old ones sees
  // values of new ones.
  void begin_anew(uint64_t name);

  // The child of `parent` with this identity, made when it is new (with `alternate`). Beyond the
  // budget: the [other] child of `parent`; below [other]: [other] itself.
  uint32_t child(uint32_t parent, NodeKind kind, uint64_t label, int32_t line,
                 uint32_t alternate = kNoNode) {
    const uint64_t hash = identity_hash(parent, kind, label, line);
    const uint32_t known = find(hash, parent, kind, label, line);
    return known != kNoNode ? known : add_child(hash, parent, kind, label, line, alternate);
  }
  // One event of `node` has ended.
  void add(uint32_t node, int64_t duration_ns, int64_t self_ns) {
    NodeRow& row = own_row(node);
    const uint64_t count = row.count.load(std::memory_order_relaxed);
    bump(row.sum_ns, duration_ns);
    bump(row.self_ns, self_ns);
    if (count == 0 || duration_ns < row.min_ns.load(std::memory_order_relaxed)) {
      row.min_ns.store(duration_ns, std::memory_order_relaxed);
    }
    if (duration_ns > row.max_ns.load(std::memory_order_relaxed)) {
      row.max_ns.store(duration_ns, std::memory_order_relaxed);
    }
    const double duration = static_cast<double>(duration_ns);
    bump(row.sum_sq, duration * duration);
    row.count.store(count + 1, std::memory_order_relaxed);
  }
  void add_host_gap(uint32_t node, int64_t gap_ns) {
    NodeRow& row = own_row(node);
    bump(row.host_gap_ns, gap_ns);
    bump(host_gap_ns_, gap_ns);
    // Its first cache line, which short gaps have no need of.
    if (gap_ns < kLongGapNs || row.kind.load(std::memory_order_relaxed) != NodeKind::python) return;
    if (gap_ns > row.max_ns.load(std::memory_order_relaxed)) {
      row.max_ns.store(gap_ns, std::memory_order_relaxed);
    }
  }
  static constexpr int64_t kLongGapNs = 1'000'000;
  // Of one event of a scope, after add(). Asking the system for it takes about a microsecond at
  // both ends: a scope whose first kBriefEvents events take less than kBriefNs on average is not
  // measured any more, and what was measured is forgotten.
  void add_usage(uint32_t node, int64_t cpu_ns, int64_t faults);
  bool brief(uint32_t node) const { return own_row(node).brief; }
  static constexpr uint64_t kBriefEvents = 16;
  static constexpr int64_t kBriefNs = 100'000;
  // The duration of an event that no other event of this thread contains.
  void add_top_level(int64_t duration_ns) { bump(top_level_ns_, duration_ns); }

  // ---- any thread

  uint32_t node_count() const { return static_cast<uint32_t>(nodes_.size()); }
  NodeView view(uint32_t node) const;
  MetricView metrics(uint32_t node) const;
  NodeKind kind(uint32_t node) const { return nodes_[node].kind; }
  uint32_t parent(uint32_t node) const { return nodes_[node].parent; }
  // What the self times of all nodes sum up to, but for Loss::clamped_self and events still open.
  int64_t top_level_ns() const { return top_level_ns_.load(std::memory_order_relaxed); }
  // Sum of the gaps of all nodes.
  int64_t host_gap_ns() const { return host_gap_ns_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    uint32_t node = kNoNode;
    uint32_t tag = 0;
  };

  template <class T>
  static void bump(std::atomic<T>& value, T by) {
    value.store(value.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  static uint64_t identity_hash(uint32_t parent, NodeKind kind, uint64_t label, int32_t line) {
    // Multiplied independently of each other, mixed once: the processor does both at the same time.
    constexpr uint64_t kPlace = 0x9e3779b97f4a7c15ULL;
    constexpr uint64_t kLabel = 0xd6e8feb86659fd93ULL;
    const uint64_t place = uint64_t{parent} << 32 | static_cast<uint32_t>(line);
    const uint64_t what = label << 5 ^ label >> 59 ^ static_cast<uint64_t>(kind);
    uint64_t hash = place * kPlace + what * kLabel;
    hash = (hash ^ hash >> 32) * kPlace;
    return hash ^ hash >> 29;
  }
  uint32_t find(uint64_t hash, uint32_t parent, NodeKind kind, uint64_t label, int32_t line) const {
    const size_t mask = slots_.size() - 1;
    const auto tag = static_cast<uint32_t>(hash >> 32);
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot slot = slots_[at];
      if (slot.node == kNoNode) return kNoNode;
      if (slot.tag != tag) continue;
      const NodeRow& row = own_row(slot.node);
      constexpr auto kRelaxed = std::memory_order_relaxed;
      if (row.parent.load(kRelaxed) == parent && row.label.load(kRelaxed) == label &&
          row.kind.load(kRelaxed) == kind && row.has_line == (line != 0) &&
          (line == 0 || row.line.load(kRelaxed) == line)) {
        return slot.node;
      }
    }
  }
  // The owner's way to a row: fewer loads than a reader's, one for the nodes that came first.
  NodeRow& own_row(uint32_t node) const {
    constexpr size_t kRows = Published<NodeRow>::kChunkRows;
    return node < kRows ? first_[node] : chunks_[node / kRows][node % kRows];
  }
  uint32_t add_child(uint64_t hash, uint32_t parent, NodeKind kind, uint64_t label, int32_t line,
                     uint32_t alternate);
  uint32_t make(uint32_t parent, NodeKind kind, uint64_t label, int32_t line, uint32_t alternate);
  void insert(uint64_t hash, uint32_t node);
  void grow();

  // What every event needs comes first.
  NodeRow* first_ = nullptr;  // owner's: the first chunk of nodes_
  std::vector<Slot> slots_;   // owner's: from the identity of a node to its id
  std::atomic<int64_t> top_level_ns_{0};
  std::atomic<int64_t> host_gap_ns_{0};
  std::vector<NodeRow*> chunks_;  // owner's: where the rows of nodes_ lie
  NodeBudget& budget_;
  LossCounters& losses_;
  Published<NodeRow> nodes_;
};

}  // namespace dctx::monitor
