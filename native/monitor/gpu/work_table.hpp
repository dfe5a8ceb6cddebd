#pragma once
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "monitor/gpu/provider.hpp"

namespace dctx::monitor::gpu {

// The identity of a row: work of one name on one device, launched from one context.
struct WorkKey {
  uint64_t context;    // kNoContext: the launch was not seen
  uint64_t alternate;  // of work in a graph: where the graph was launched, else kNoContext
  uint64_t graph;      // not 0: in this graph, whose making was not seen
  uint32_t name;       // string id
  uint32_t device;
  WorkKind kind;

  bool operator==(const WorkKey& other) const {
    return context == other.context && alternate == other.alternate && graph == other.graph &&
           name == other.name && device == other.device && kind == other.kind;
  }
};

// What it came to since the recording began.
struct WorkSums {
  uint64_t count = 0;
  int64_t sum_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  double sum_sq = 0;  // in ns²
  uint64_t bytes = 0;
  uint32_t grid[3] = {0, 0, 0};  // of the first
  uint32_t block[3] = {0, 0, 0};
  uint32_t registers = 0;
  uint32_t shared_bytes = 0;
};

struct WorkRow {
  uint32_t row;  // dense, in the order of first appearance
  WorkKey key;
  WorkSums sums;
};

// The sums of all work of the process. Records come from the vendors' threads in batches, and the
// recorder copies what changed; the hooks of the program's threads never come here.
class WorkTable {
 public:
  // Adds one piece of work. The caller holds mutex(). `limit`: rows beyond it are folded: one row
  // without a name for each context and device. True when this one was.
  bool add(const WorkKey& key, const WorkRecord& record, uint64_t limit);
  // Rows that changed since they were last told to a reader that has seen `seen` (its own, empty
  // at first). The caller holds mutex().
  std::vector<WorkRow> changed(std::vector<uint64_t>& seen) const;
  void clear();
  size_t size() const { return rows_.size(); }
  uint64_t records() const { return records_; }
  std::mutex& mutex() { return mutex_; }

 private:
  struct Hash {
    size_t operator()(const WorkKey& key) const;
  };

  std::mutex mutex_;
  std::unordered_map<WorkKey, uint32_t, Hash> ids_;
  std::vector<WorkRow> rows_;
  uint64_t records_ = 0;
};

}  // namespace dctx::monitor::gpu
