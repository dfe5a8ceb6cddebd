#include "monitor/engine/thread_store.hpp"

namespace dctx::monitor {
namespace {

constexpr size_t kFirstSlots = 1024;

}  // namespace

ThreadStore::ThreadStore(NodeBudget& budget, LossCounters& losses, uint64_t name)
    : slots_(kFirstSlots), budget_(budget), losses_(losses) {
  make(kNoNode, NodeKind::thread, name, 0, kNoNode);
}

void ThreadStore::begin_anew(uint64_t name) {
  nodes_.clear();
  top_level_ns_.store(0, std::memory_order_relaxed);
  host_gap_ns_.store(0, std::memory_order_relaxed);
  slots_.assign(kFirstSlots, Slot{});
  make(kNoNode, NodeKind::thread, name, 0, kNoNode);
}

uint32_t ThreadStore::add_child(uint64_t hash, uint32_t parent, NodeKind kind, uint64_t label,
                                int32_t line, uint32_t alternate) {
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
  if (nodes_.size() == chunks_.size() * Published<NodeRow>::kChunkRows) chunks_.push_back(row);
  first_ = chunks_.front();
  row->brief = false;
  row->label.store(label, std::memory_order_relaxed);
  row->parent.store(parent, std::memory_order_relaxed);
  row->alternate.store(alternate, std::memory_order_relaxed);
  row->line.store(line, std::memory_order_relaxed);
  row->has_line = line != 0;
  row->kind.store(kind, std::memory_order_relaxed);
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

void ThreadStore::add_usage(uint32_t node, int64_t cpu_ns, int64_t faults) {
  NodeRow& row = own_row(node);
  if (row.brief) return;  // an event that began before that was known
  bump(row.cpu_ns, cpu_ns);
  bump(row.faults, faults);
  const uint64_t count = row.count.load(std::memory_order_relaxed);
  row.brief = count >= kBriefEvents &&
              row.sum_ns.load(std::memory_order_relaxed) < static_cast<int64_t>(count) * kBriefNs;
  if (!row.brief) return;
  row.cpu_ns.store(0, std::memory_order_relaxed);
  row.faults.store(0, std::memory_order_relaxed);
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
  constexpr auto kRelaxed = std::memory_order_relaxed;
  return {row.parent.load(kRelaxed), row.alternate.load(kRelaxed), row.kind.load(kRelaxed),
          row.label.load(kRelaxed), row.line.load(kRelaxed)};
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
