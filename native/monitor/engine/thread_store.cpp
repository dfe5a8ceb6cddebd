#include "monitor/engine/thread_store.hpp"

namespace dctx::monitor {
namespace {

constexpr size_t kFirstSlots = 1024;

uint64_t identity_hash(uint32_t parent, NodeKind kind, uint64_t label, int32_t line) {
  // Multiplied independently of each other, mixed once: the processor does both at the same time.
  constexpr uint64_t kPlace = 0x9e3779b97f4a7c15ULL;
  constexpr uint64_t kLabel = 0xd6e8feb86659fd93ULL;
  const uint64_t place = uint64_t{parent} << 32 | static_cast<uint32_t>(line);
  const uint64_t what = label << 5 ^ label >> 59 ^ static_cast<uint64_t>(kind);
  uint64_t hash = place * kPlace + what * kLabel;
  hash = (hash ^ hash >> 32) * kPlace;
  return hash ^ hash >> 29;
}

}  // namespace

ThreadStore::ThreadStore(NodeBudget& budget, LossCounters& losses, uint64_t name)
    : budget_(budget), losses_(losses), slots_(kFirstSlots) {
  make(kNoNode, NodeKind::thread, name, 0, kNoNode);
}

uint32_t ThreadStore::find(uint64_t hash, uint32_t parent, NodeKind kind, uint64_t label,
                           int32_t line) const {
  const size_t mask = slots_.size() - 1;
  const uint32_t tag = static_cast<uint32_t>(hash >> 32);
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot slot = slots_[at];
    if (slot.node == kNoNode) return kNoNode;
    if (slot.tag != tag) continue;
    const NodeRow& row = nodes_[slot.node];
    if (row.parent == parent && row.label == label && row.kind == kind && row.line == line) {
      return slot.node;
    }
  }
}

uint32_t ThreadStore::child(uint32_t parent, NodeKind kind, uint64_t label, int32_t line,
                            uint32_t alternate) {
  const uint64_t hash = identity_hash(parent, kind, label, line);
  const uint32_t known = find(hash, parent, kind, label, line);
  if (known != kNoNode) return known;
  if (nodes_[parent].kind == NodeKind::other) return parent;
  if (budget_.used.load(std::memory_order_relaxed) <
      budget_.limit.load(std::memory_order_relaxed)) {
    const uint32_t node = make(parent, kind, label, line, alternate);
    if (node == kNoNode) return parent;
    insert(hash, node);
    return node;
  }
  losses_.add(Loss::folded);
  const uint64_t other_hash = identity_hash(parent, NodeKind::other, 0, 0);
  const uint32_t other = find(other_hash, parent, NodeKind::other, 0, 0);
  if (other != kNoNode) return other;
  const uint32_t node = make(parent, NodeKind::other, 0, 0, kNoNode);
  if (node == kNoNode) return parent;
  insert(other_hash, node);
  return node;
}

uint32_t ThreadStore::make(uint32_t parent, NodeKind kind, uint64_t label, int32_t line,
                           uint32_t alternate) {
  NodeRow* row = nodes_.prepare();
  if (row == nullptr) return kNoNode;
  row->label = label;
  row->parent = parent;
  row->alternate = alternate;
  row->line = line;
  row->kind = kind;
  row->count.store(0, std::memory_order_relaxed);
  row->sum_sq.store(0, std::memory_order_relaxed);
  for (std::atomic<int64_t>* value : {&row->sum_ns, &row->self_ns, &row->min_ns, &row->max_ns,
                                      &row->host_gap_ns, &row->cpu_ns, &row->faults, &row->bytes}) {
    value->store(0, std::memory_order_relaxed);
  }
  nodes_.publish();
  budget_.used.fetch_add(1, std::memory_order_relaxed);
  return node_count() - 1;
}

void ThreadStore::insert(uint64_t hash, uint32_t node) {
  if (size_t{node_count()} * 2 > slots_.size()) grow();
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at].node != kNoNode) at = (at + 1) & mask;
  slots_[at] = {node, static_cast<uint32_t>(hash >> 32)};
}

void ThreadStore::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.node == kNoNode) continue;
    const NodeRow& row = nodes_[slot.node];
    size_t at = identity_hash(row.parent, row.kind, row.label, row.line) & mask;
    while (slots_[at].node != kNoNode) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

NodeView ThreadStore::view(uint32_t node) const {
  const NodeRow& row = nodes_[node];
  return {row.parent, row.alternate, row.kind, row.label, row.line};
}

MetricView ThreadStore::metrics(uint32_t node) const {
  const NodeRow& row = nodes_[node];
  constexpr auto kRelaxed = std::memory_order_relaxed;
  return {row.count.load(kRelaxed),       row.sum_ns.load(kRelaxed), row.self_ns.load(kRelaxed),
          row.min_ns.load(kRelaxed),      row.max_ns.load(kRelaxed), row.sum_sq.load(kRelaxed),
          row.host_gap_ns.load(kRelaxed), row.cpu_ns.load(kRelaxed), row.faults.load(kRelaxed),
          row.bytes.load(kRelaxed)};
}

}  // namespace dctx::monitor
