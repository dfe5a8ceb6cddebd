#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "monitor/engine/cpu_sampler.hpp"
#include "monitor/engine/registry.hpp"
#include "monitor/gpu/work_table.hpp"
#include "monitor/recorder/sample_rows.hpp"

namespace dctx::monitor {

// A chunk that the recorder was handed as it is.
struct Attachment {
  uint32_t type;
  std::string content;
};

// What the recorder knows of itself at a snapshot.
struct SnapshotFacts {
  int64_t utc_ns;
  int64_t monotonic_ns;
  int64_t recorder_cpu_ns;  // spent on snapshots before this one
  bool last;                // the recording was stopped
  const std::vector<Attachment>* attached = nullptr;
};

struct Totals {
  uint64_t threads = 0;
  uint64_t nodes = 0;
  uint64_t events = 0;
  int64_t top_level_ns = 0;
  uint64_t steps = 0;
  int64_t steps_begin_ns = 0;
  uint64_t hook_calls = 0;    // of torch, two an event
  int64_t hook_ns = 0;        // what they took, estimated from those that were timed
  uint64_t work_rows = 0;     // of devices
  uint64_t work_records = 0;  // that are in them

  // Something was recorded: a thread alone is nothing.
  bool any() const { return nodes > threads || steps > 0 || work_rows > 0; }
};

// Names that nodes of the trees refer to, by id.
struct UsedNames {
  std::vector<bool> strings;
  std::vector<bool> codes;
};

// How much of a thread is there to be read.
struct ThreadCounts {
  uint32_t nodes;
  size_t calls;  // rows of its ArgumentLog
};

// Turns the registry into chunks, each time only what is new. Reads without a lock while the
// threads go on recording.
class SnapshotWriter {
 public:
  // Nothing was written yet: of a new file.
  explicit SnapshotWriter(Registry& registry) : registry_(registry) {}

  // Appends what is new since the last call, and a COMMIT. `meta` is written when it changed.
  Totals append(std::string& out, std::string_view meta, const SnapshotFacts& facts);

 private:
  struct Written {
    uint32_t nodes = 0;
    std::vector<uint64_t> metrics;  // a hash of the values, by node
    std::vector<uint64_t> calls;    // counts, by row of the ArgumentLog
    std::vector<uint64_t> usage;    // likewise, by row
    uint64_t samples = 0;
    std::vector<uint64_t> memory;  // hashes, by row of the AllocationLog
  };
  void chunk(std::string& out, uint32_t type, std::string_view content);
  void append_nodes(std::string& out, const ThreadRecord& record, uint32_t count);
  void append_metrics(std::string& out, const ThreadRecord& record, uint32_t count, Totals& totals);
  void append_threads(std::string& out, const std::vector<const ThreadRecord*>& threads);
  // `used`: other names are left empty; null: every name may be used later.
  void append_names(std::string& out, const UsedNames* used);
  UsedNames used_names(const std::vector<const ThreadRecord*>& threads,
                       const std::vector<ThreadCounts>& counts,
                       const std::vector<gpu::WorkRow>& work,
                       const std::vector<gpu::SampleRow>& samples);
  void append_usage(std::string& out, const ThreadRecord& record, uint32_t count);
  void append_samples(std::string& out);
  void append_symbols(std::string& out, const std::vector<const ThreadRecord*>& threads,
                      const std::vector<ThreadCounts>& counts);
  void append_steps(std::string& out, Totals& totals);
  void append_losses(std::string& out);
  void append_commit(std::string& out, const Totals& totals, const SnapshotFacts& facts);

  Registry& registry_;
  uint32_t sequence_ = 0;
  uint32_t number_ = 0;
  std::string meta_;
  std::string steps_;
  std::string losses_;
  std::string threads_;
  uint32_t strings_ = 0;
  uint32_t codes_ = 0;
  uint32_t modules_ = 0;
  uint32_t arguments_ = 0;
  size_t attached_ = 0;
  std::unordered_map<uint32_t, Written> written_;  // by thread
  std::vector<uint64_t> written_work_;             // records by row
  SampleWriter instructions_;
};

}  // namespace dctx::monitor
