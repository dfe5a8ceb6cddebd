#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "monitor/engine/arguments.hpp"
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
  // Records of old trees stay in memory (a thread may just use one), hidden.
  void clear();
  // pthread_atfork handlers: no lock is held by another thread while the process forks, and the
  // child begins with no trees and one thread.
  void before_fork();
  void after_fork_in_parent();
  void reset_after_fork();

  // ---- any thread

  bool active() const { return active_.load(std::memory_order_relaxed); }
  uint32_t generation() const { return generation_.load(std::memory_order_relaxed); }
  // Records of threads [first_thread(), thread_count()) hold what was recorded.
  size_t first_thread() const { return first_thread_.load(std::memory_order_acquire); }
  size_t thread_count() const { return threads_.size(); }
  ThreadRecord& thread(size_t index) { return *threads_[index]; }
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
  StepMoment moment() const;
  // What start() was last called with.
  EngineConfig config() const {
    return {budget_.limit.load(std::memory_order_relaxed), measures_usage(), step_marker()};
  }
  uint32_t step_marker() const { return step_marker_.load(std::memory_order_relaxed); }
  bool measures_usage() const { return usage_.load(std::memory_order_relaxed); }

  // The calling thread's record, made or brought to the current generation when needed; null when
  // too many threads have one.
  ThreadRecord* current() {
    ThreadRecord* record = own_;
    if (record != nullptr && record->generation == generation()) return record;
    return adopt();
  }
  // The calling thread's record as it is, or null: for the end of events.
  ThreadRecord* current_if_any() const {
    ThreadRecord* record = own_;
    return record != nullptr && record->generation == generation() ? record : nullptr;
  }

 private:
  static constexpr size_t kMaxThreads = 65'535;  // an index fits 16 bits
  static constexpr size_t kFrameworkThreads = 16'384;

  Registry() = default;
  ThreadRecord* adopt();
  ThreadRecord* enter();
  void leave(ThreadRecord* record);
  friend struct ThreadExit;

  // Defined here, so that every user sees that it needs no initialisation.
  static inline thread_local ThreadRecord* own_ = nullptr;

  std::atomic<bool> active_{false};
  std::atomic<uint32_t> generation_{1};
  std::atomic<uint32_t> epoch_{1};
  std::atomic<size_t> first_thread_{0};
  std::atomic<bool> usage_{true};
  std::atomic<uint32_t> step_marker_{0};
  StringTable strings_;
  CodeTable codes_;
  ModuleTable modules_;
  ArgumentTable arguments_;
  LossCounters losses_;
  NodeBudget budget_;
  StepLog steps_;
  std::mutex mutex_;  // of what follows
  Published<std::unique_ptr<ThreadRecord>> threads_;
  std::unordered_map<uint32_t, std::vector<ThreadRecord*>> idle_;  // by name
  std::array<std::atomic<ThreadRecord*>, kFrameworkThreads> framework_threads_{};
};

}  // namespace dctx::monitor
