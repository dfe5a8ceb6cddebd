#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "monitor/engine/perf_counters.hpp"
#include "monitor/engine/published.hpp"

namespace dctx::monitor {

// What scopes used beside time: context switches, and the counters that were asked for. One row a
// context that had any.
struct UsageRow {
  uint32_t node;
  std::atomic<int64_t> switches;
  std::array<std::atomic<uint64_t>, kMaxCounters> counters;
};

// Of one thread. Only the owner adds; any thread may read the rows below size().
class ScopeUsage {
 public:
  // An open scope's values at its begin.
  struct Begun {
    const void* identity;
    bool counted;
    CounterValues counters;
  };

  void begin(const void* identity) {
    Begun begun{identity, false, {}};
    begun.counted = PerfCounters::read(&begun.counters);
    if (begun.counted) open_.push_back(begun);
  }
  // `switches`: kForget when they are not measured any more.
  static constexpr int64_t kForget = -1;
  void end(const void* identity, uint32_t node, int64_t switches) {
    CounterValues used{};
    bool counted = false;
    for (size_t i = open_.size(); i-- > 0 && !counted;) {
      if (open_[i].identity != identity) continue;
      counted = PerfCounters::read(&used);
      for (size_t k = 0; k < kMaxCounters && counted; ++k) used[k] -= open_[i].counters[k];
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    const bool forget = switches == kForget;
    if ((switches == 0 || (forget && index_.count(node) == 0)) && !counted) return;
    UsageRow* const row = row_of(node);
    if (row == nullptr) return;
    row->switches.store(forget ? 0 : row->switches.load(std::memory_order_relaxed) + switches,
                        std::memory_order_relaxed);
    for (size_t k = 0; k < kMaxCounters && counted; ++k) {
      row->counters[k].store(row->counters[k].load(std::memory_order_relaxed) + used[k],
                             std::memory_order_relaxed);
    }
  }
  // Scopes of an older recording are never ended.
  void forget_open() { open_.clear(); }
  void clear() {
    forget_open();
    index_.clear();
    rows_.clear();
  }

  size_t size() const { return rows_.size(); }
  const UsageRow& row(size_t number) const { return rows_[number]; }

 private:
  UsageRow* row_of(uint32_t node) {
    const auto known = index_.find(node);
    if (known != index_.end()) return &rows_[known->second];
    UsageRow* const row = rows_.prepare();
    if (row == nullptr) return nullptr;
    row->node = node;
    row->switches.store(0, std::memory_order_relaxed);
    for (auto& counter : row->counters) counter.store(0, std::memory_order_relaxed);
    rows_.publish();
    index_.emplace(node, rows_.size() - 1);
    return row;
  }

  std::vector<Begun> open_;
  std::unordered_map<uint32_t, size_t> index_;
  Published<UsageRow> rows_;
};

}  // namespace dctx::monitor
