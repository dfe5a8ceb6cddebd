#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "monitor/engine/caches.hpp"
#include "monitor/engine/registry.hpp"
#include "monitor/gpu/busy_time.hpp"
#include "monitor/gpu/context_ring.hpp"
#include "monitor/gpu/graph_nodes.hpp"
#include "monitor/gpu/provider.hpp"
#include "monitor/gpu/samples/cubins.hpp"
#include "monitor/gpu/samples/sample_table.hpp"
#include "monitor/gpu/work_table.hpp"

namespace dctx::monitor::gpu {

// Of all records that were delivered. records = placed + orphans + outside.
struct WorkCounts {
  uint64_t records = 0;
  uint64_t placed = 0;
  uint64_t orphans = 0;   // their launch was not seen, or is forgotten
  uint64_t outside = 0;   // launched while nothing was recorded: in no row
  uint64_t dropped = 0;   // never delivered, as the vendor tells; not among the records
  uint64_t launches = 0;  // calls that give a device work, while something was recorded
};

// What providers call: puts calls into the trees of their threads, and records into the table of
// work, each where it was launched.
class GpuHost {
 public:
  // Never destroyed: records come until the process ends.
  static GpuHost& instance();

  // The upcalls; null when memory is out.
  const Host* host();
  WorkTable& table() { return table_; }
  GraphNodes& graphs() { return graphs_; }
  SampleTable& samples() { return samples_; }
  Cubins& cubins() { return cubins_; }
  WorkCounts counts() const;
  // Lines for the user since the last call.
  std::vector<std::string> take_notes();
  // A new recording begins: forgets work, graphs and counts.
  void clear();
  // pthread_atfork handlers, before and after the registry's.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  GpuHost() = default;
  static uint64_t context_now_();
  static uint64_t on_api(const ApiCall& call);
  static void on_records(const WorkRecord* records, size_t count);
  static void on_dropped(uint64_t count);
  static void on_module(const void* bytes, size_t count, uint64_t id);
  static void on_pc(const PcRecord* records, size_t count);
  static void log_once(const char* text);
  static void on_graph_node(uint64_t node, uint64_t original, uint64_t graph);
  static void on_graph_node_gone(uint64_t node);
  static void on_graph_gone(uint64_t graph);
  // The row's key; a record of a pause has none.
  bool add(const WorkRecord& record, WorkKey& key);
  void add(const PcRecord& record);
  void add_to_steps(const WorkRecord& record);
  bool known(uint64_t context) const;
  uint32_t name_of(const WorkRecord& record);

  ContextRing ring_;
  WorkTable table_;
  GraphNodes graphs_;
  SampleTable samples_;
  Cubins cubins_;
  NameCache names_;                              // with the table's lock
  std::unordered_map<uint32_t, BusyTime> busy_;  // by device; with the table's lock
  std::atomic<uint64_t> records_{0};
  std::atomic<uint64_t> placed_{0};
  std::atomic<uint64_t> orphans_{0};
  std::atomic<uint64_t> outside_{0};
  std::atomic<uint64_t> dropped_{0};
  std::atomic<uint64_t> launches_{0};
  std::mutex notes_mutex_;
  std::vector<std::string> notes_;  // all that were told
  size_t taken_ = 0;
};

}  // namespace dctx::monitor::gpu
