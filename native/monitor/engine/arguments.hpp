#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "monitor/engine/node.hpp"
#include "monitor/engine/published.hpp"

namespace dctx::monitor {

// What an operator was called with: string ids of two JSON lists, one entry an argument.
struct ArgumentSet {
  uint32_t shapes;
  uint32_t types;
};

// Dense ids of distinct sets, over all threads. The lock is taken to add, never to read.
class ArgumentTable {
 public:
  uint32_t intern(ArgumentSet set);
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
  ArgumentSet view(uint32_t id) const { return rows_[id]; }
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, uint32_t> ids_;
  Published<ArgumentSet> rows_;
};

// Calls of one context with one set of arguments.
struct ArgumentCalls {
  uint32_t node;
  uint32_t set;  // kNoNode: with any beyond ArgumentLog::kMaxSets
  uint64_t count;
  int64_t sum_ns;
};

// The calls of one thread by context and arguments: the first kMaxSets sets that a context meets
// apart, later ones in one sum, so that memory is bounded by the number of contexts. Only the
// thread itself writes; any thread may read rows below size().
class ArgumentLog {
 public:
  static constexpr uint32_t kMaxSets = 32;

  // ---- owner only

  // The row of `node` and the set that `key` tells from all others. `make` gives the id of a set
  // that was not met before. kNoNode when memory is out.
  template <class Make>
  uint32_t row(uint32_t node, const std::string& key, Make&& make) {
    const auto known = sets_.find(key);
    uint32_t set = known == sets_.end() ? kNoNode : known->second;
    if (set != kNoNode) {
      const auto row = rows_.find(pair(node, set));
      if (row != rows_.end()) return row->second;
    }
    uint32_t& sets = sets_of_[node];
    if (sets >= kMaxSets) return row_of(node, kNoNode);
    if (set == kNoNode) {
      set = make();
      sets_.emplace(key, set);
    }
    ++sets;
    return row_of(node, set);
  }
  void clear() {
    sets_.clear();
    rows_.clear();
    sets_of_.clear();
    calls_.clear();
  }
  void add(uint32_t row, int64_t duration_ns) {
    Row& calls = calls_[row];
    calls.sum_ns.store(calls.sum_ns.load(std::memory_order_relaxed) + duration_ns,
                       std::memory_order_relaxed);
    calls.count.store(calls.count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // ---- any thread

  size_t size() const { return calls_.size(); }
  ArgumentCalls view(size_t row) const;

 private:
  struct Row {
    uint32_t node;
    uint32_t set;
    std::atomic<uint64_t> count;
    std::atomic<int64_t> sum_ns;
  };

  static uint64_t pair(uint32_t node, uint32_t set) { return uint64_t{node} << 32 | set; }
  uint32_t row_of(uint32_t node, uint32_t set);

  std::unordered_map<std::string, uint32_t> sets_;
  std::unordered_map<uint64_t, uint32_t> rows_;
  std::unordered_map<uint32_t, uint32_t> sets_of_;  // how many a node has met
  Published<Row> calls_;
};

}  // namespace dctx::monitor
