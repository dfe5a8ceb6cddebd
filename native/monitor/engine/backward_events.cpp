#include <vector>

#include "monitor/engine/events.hpp"
#include "monitor/engine/open_events.hpp"

namespace dctx::monitor {
namespace {

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

}  // namespace

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
  push(record, {identity, {place.leaf}, node, node, name, NodeKind::backward_op}, place.node, link);
}

void begin_evaluation(ThreadRecord& record, const void* identity, EventName name) {
  const Place place = place_of_operator(record);
  push(record, {identity, {place.leaf}, kNoNode, place.node, name, NodeKind::backward_op},
       place.node);
}

}  // namespace dctx::monitor
