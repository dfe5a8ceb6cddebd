#include "monitor/gpu/graph_nodes.hpp"

#include <utility>

namespace dctx::monitor::gpu {

using Lock = std::lock_guard<std::mutex>;

void GraphNodes::add(uint64_t node, uint64_t graph, uint64_t context) {
  const Lock lock(mutex_);
  if (made_.size() < kMaxNodes) made_[node] = {context, graph, false, false};
}

bool GraphNodes::copy(uint64_t node, uint64_t graph, uint64_t original) {
  const Lock lock(mutex_);
  const auto known = made_.find(original);
  if (known == made_.end()) return false;
  const uint64_t context = known->second.context;
  if (made_.size() < kMaxNodes) made_[node] = {context, graph, true, false};
  return true;
}

void GraphNodes::remove(uint64_t node) {
  const Lock lock(mutex_);
  const auto known = made_.find(node);
  if (known == made_.end() || known->second.gone) return;
  known->second.gone = true;
  gone_.push_back(node);
}

void GraphNodes::remove_copies(uint64_t graph) {
  const Lock lock(mutex_);
  for (auto& [node, made] : made_) {
    if (!made.copied || made.graph != graph || made.gone) continue;
    made.gone = true;
    gone_.push_back(node);
  }
}

void GraphNodes::flushed() {
  const Lock lock(mutex_);
  for (const uint64_t node : leaving_) {
    const auto known = made_.find(node);
    if (known != made_.end() && known->second.gone)
      made_.erase(known);  // else its id is used again
  }
  leaving_ = std::exchange(gone_, {});
}

bool GraphNodes::find(uint64_t node, uint64_t* context) {
  const Lock lock(mutex_);
  const auto known = made_.find(node);
  if (known == made_.end()) return false;
  *context = known->second.context;
  return true;
}

void GraphNodes::clear() {
  const Lock lock(mutex_);
  made_.clear();
  leaving_.clear();
  gone_.clear();
}

size_t GraphNodes::size() {
  const Lock lock(mutex_);
  return made_.size();
}

}  // namespace dctx::monitor::gpu
