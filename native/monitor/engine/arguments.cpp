#include "monitor/engine/arguments.hpp"

#include <new>

namespace dctx::monitor {

uint32_t ArgumentTable::intern(ArgumentSet set) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t key = uint64_t{set.shapes} << 32 | set.types;
  const auto known = ids_.find(key);
  if (known != ids_.end()) return known->second;
  ArgumentSet* const row = rows_.prepare();
  if (row == nullptr) throw std::bad_alloc();
  const uint32_t id = size();
  ids_.emplace(key, id);
  *row = set;
  rows_.publish();
  return id;
}

uint32_t ArgumentLog::row_of(uint32_t node, uint32_t set) {
  const auto known = rows_.find(pair(node, set));
  if (known != rows_.end()) return known->second;
  Row* const row = calls_.prepare();
  if (row == nullptr) return kNoNode;
  const auto id = static_cast<uint32_t>(calls_.size());
  rows_.emplace(pair(node, set), id);
  row->node = node;
  row->set = set;
  row->count.store(0, std::memory_order_relaxed);
  row->sum_ns.store(0, std::memory_order_relaxed);
  calls_.publish();
  return id;
}

ArgumentCalls ArgumentLog::view(size_t row) const {
  const Row& calls = calls_[row];
  return {calls.node, calls.set, calls.count.load(std::memory_order_relaxed),
          calls.sum_ns.load(std::memory_order_relaxed)};
}

}  // namespace dctx::monitor
