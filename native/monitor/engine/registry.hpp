#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "monitor/engine/arguments.hpp"
#include "monitor/engine/engine_state.hpp"
#include "monitor/engine/intern.hpp"
#include "monitor/engine/loss.hpp"
#include "monitor/engine/step_log.hpp"
#include "monitor/engine/thread_record.hpp"

namespace dctx::monitor {

struct EngineConfig {
  uint64_t max_nodes = 2'000'000;  // of the process; contexts beyond it go to [other]
  bool usage = true;               // thread CPU time and page faults of scopes
  uint32_t step_marker = 0;        // label of the scope that ends steps; 0: optimizers' scopes do
};

// Everything recorded in this process. A reader (the recorder's thread) takes no lock: it reads
// counts first, then rows below them. Order: threads, then each store's node_count(), then codes,
// then strings; so that every id it meets is below the count it has read.
class Registry {
 public:
  // Never destroyed: hooks run until the process ends.
  static Registry& instance();

  // ---- control, from one thread at a time

  // Begins to record; trees of an earlier recording stay unless clear() is called first.
  void start(const EngineConfig& config);
  // Hooks record nothing from now on; events that are open are never ended.
  void stop();
  // Forgets the trees, the losses and the steps. Strings, codes and modules keep their ids.
  // Records of old trees are hidden, and used again by whom next needs one: a thread may just be in
  // its own.
  void clear();
  // pthread_atfork handlers: no lock is held by another thread while the process forks, and the
  // child begins with no trees and one thread.
  void before_fork();
  void after_fork_in_parent();
  void reset_after_fork();

  // ---- any thread

  static bool active() { return engine_state.active.load(std::memory_order_relaxed); }
  static uint32_t generation() { return engine_state.generation.load(std::memory_order_relaxed); }
  // The records that hold what was recorded, by their index.
  std::vector<const ThreadRecord*> threads() const;
  // For an index that a record has told.
  ThreadRecord& thread(size_t index) { return *threads_[index]; }
  // True when the record with this index belongs to the present trees.
  bool present(size_t index) const;
  // True when the record with this index belongs to the present trees, and these are of the epoch
  // with these lower eight bits.
  bool holds(size_t index, uint32_t epoch) const;
  // The record of the thread with this framework thread id, or null.
  ThreadRecord* framework_thread(uint64_t id);
  void set_framework_thread(ThreadRecord& record, uint64_t id);

  StringTable& strings() { return strings_; }
  CodeTable& codes() { return codes_; }
  ModuleTable& modules() { return modules_; }
  ArgumentTable& arguments() { return arguments_; }
  LossCounters& losses() { return losses_; }
  NodeBudget& budget() { return budget_; }
  StepLog& steps() { return steps_; }
  // Now, as the calling thread ends a step.
  StepMoment end_of_step() const;
  // What start() was last called with.
  EngineConfig config() const {
    return {budget_.limit.load(std::memory_order_relaxed), measures_usage(), step_marker()};
  }
  static uint32_t step_marker() { return engine_state.step_marker.load(std::memory_order_relaxed); }
  static bool measures_usage() { return engine_state.usage.load(std::memory_order_relaxed); }

  // The calling thread's record, made or brought to the current generation when needed; null when
  // too many threads have one.
  static ThreadRecord* current() {
    ThreadRecord* record = own_;
    if (record != nullptr && record->generation == generation()) return record;
    return instance().adopt();
  }
  // The calling thread's record as it is, or null: for the end of events.
  static ThreadRecord* current_if_any() {
    ThreadRecord* record = own_;
    return record != nullptr && record->generation == generation() ? record : nullptr;
  }

 private:
  static constexpr size_t kMaxThreads = 65'535;  // an index fits 16 bits
  static constexpr size_t kFrameworkThreads = 16'384;

  Registry() = default;
  StepMoment moment(bool asks_usage) const;
  ThreadRecord* adopt();
  ThreadRecord* enter();
  ThreadRecord* take_record(uint32_t name);
  void leave(ThreadRecord* record);
  friend struct ThreadExit;

  // Defined here, so that every user sees that it needs no initialisation. The model: a hook reads
  // it in one instruction; the eight bytes come from what the C library sets aside for it.
  [[gnu::tls_model("initial-exec")]] static inline thread_local ThreadRecord* own_ = nullptr;

  std::atomic<uint32_t> epoch_{1};
  StringTable strings_;
  CodeTable codes_;
  ModuleTable modules_;
  ArgumentTable arguments_;
  LossCounters losses_;
  NodeBudget budget_;
  StepLog steps_;
  std::mutex mutex_;  // of what follows
  Published<std::unique_ptr<ThreadRecord>> threads_;
  std::unordered_map<uint32_t, std::vector<ThreadRecord*>> idle_;  // by name: of ended threads
  std::vector<ThreadRecord*> forgotten_;                           // without owner, of old trees
  std::array<std::atomic<ThreadRecord*>, kFrameworkThreads> framework_threads_{};
};

}  // namespace dctx::monitor
