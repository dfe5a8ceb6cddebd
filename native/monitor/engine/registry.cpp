#include "monitor/engine/registry.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "monitor/engine/clock.hpp"
#include "monitor/engine/thread_watch.hpp"

namespace dctx::monitor {

// Gives the record back when the thread ends.
struct ThreadExit {
  ThreadRecord* record = nullptr;
  ~ThreadExit() {
    if (record != nullptr) Registry::instance().leave(record);
  }
};

void ThreadRecord::begin_anew(uint32_t name_id) {
  name.store(name_id, std::memory_order_relaxed);
  cost.calls.store(0, std::memory_order_relaxed);
  cost.timed_ns.store(0, std::memory_order_relaxed);
  paths.clear();
  recent_paths.clear();
  native_places.clear();
  foreign_nodes.clear();
  arguments.clear();
  allocations.clear();
  usage.clear();
  store.begin_anew(name_id);
}

namespace {

thread_local ThreadExit exit_of_thread;

std::string thread_name() {
  char name[64] = "";
  if (pthread_getname_np(pthread_self(), name, sizeof name) != 0) return "thread";
  return name;
}

}  // namespace

Registry& Registry::instance() {
  static Registry* const registry = new Registry;
  return *registry;
}

void Registry::start(const EngineConfig& config) {
  Clock::calibrate();
  engine_state.usage.store(config.usage, std::memory_order_relaxed);
  budget_.limit.store(config.max_nodes, std::memory_order_relaxed);
  engine_state.step_marker.store(config.step_marker, std::memory_order_relaxed);
  steps_.resume(moment(true));
  engine_state.generation.fetch_add(1, std::memory_order_relaxed);
  engine_state.active.store(true, std::memory_order_release);
}

void Registry::stop() {
  engine_state.active.store(false, std::memory_order_release);
  engine_state.generation.fetch_add(1, std::memory_order_relaxed);
}

void Registry::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& record : framework_threads_) record.store(nullptr, std::memory_order_relaxed);
  for (auto& [name, records] : idle_) {
    forgotten_.insert(forgotten_.end(), records.begin(), records.end());
  }
  idle_.clear();
  budget_.used.store(0, std::memory_order_relaxed);
  losses_.clear();
  steps_.begin(moment(true));
  epoch_.fetch_add(1, std::memory_order_relaxed);
  engine_state.generation.fetch_add(1, std::memory_order_relaxed);
}

StepMoment Registry::end_of_step() const { return moment(steps_.asks_usage(Clock::now_ns())); }

StepMoment Registry::moment(bool asks_usage) const {
  StepMoment now;
  now.now_ns = Clock::now_ns();
  if (asks_usage) now.used = process_usage();
  if (const ThreadRecord* const record = current_if_any(); record != nullptr) {
    now.thread = record;
    now.host_gap_ns = record->store.host_gap_ns();
  }
  return now;
}

void Registry::before_fork() {
  mutex_.lock();
  codes_.mutex().lock();
  modules_.mutex().lock();
  arguments_.mutex().lock();
  strings_.mutex().lock();
  steps_.mutex().lock();
}

void Registry::after_fork_in_parent() {
  steps_.mutex().unlock();
  strings_.mutex().unlock();
  arguments_.mutex().unlock();
  modules_.mutex().unlock();
  codes_.mutex().unlock();
  mutex_.unlock();
}

void Registry::reset_after_fork() {
  after_fork_in_parent();  // the child's copies of the locks are held by its one thread
  clear();
  // The other threads do not exist here: what they had is free.
  forgotten_.clear();
  for (size_t i = 0; i < threads_.size(); ++i) {
    if (threads_[i].get() != own_) forgotten_.push_back(threads_[i].get());
  }
}

std::vector<const ThreadRecord*> Registry::threads() const {
  std::vector<const ThreadRecord*> found;
  const size_t count = threads_.size();
  const uint32_t epoch = epoch_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < count; ++i) {
    if (threads_[i]->epoch.load(std::memory_order_acquire) == epoch) {
      found.push_back(threads_[i].get());
    }
  }
  return found;
}

bool Registry::present(size_t index) const {
  return index < threads_.size() && threads_[index]->epoch.load(std::memory_order_acquire) ==
                                        epoch_.load(std::memory_order_relaxed);
}

bool Registry::holds(size_t index, uint32_t epoch) const {
  return (epoch & 0xffU) == (epoch_.load(std::memory_order_relaxed) & 0xffU) && present(index);
}

ThreadRecord* Registry::framework_thread(uint64_t id) {
  return id < kFrameworkThreads ? framework_threads_[id].load(std::memory_order_acquire) : nullptr;
}

void Registry::set_framework_thread(ThreadRecord& record, uint64_t id) {
  record.framework_thread.store(id, std::memory_order_relaxed);
  if (id < kFrameworkThreads) framework_threads_[id].store(&record, std::memory_order_release);
}

// The slow part of current(): the thread is new, or the recording is.
ThreadRecord* Registry::adopt() {
  ThreadRecord* record = own_;
  if (record == nullptr ||
      record->epoch.load(std::memory_order_relaxed) != epoch_.load(std::memory_order_relaxed)) {
    record = enter();
    if (record == nullptr) return nullptr;
    const auto entered = thread_entered.load(std::memory_order_acquire);
    if (entered != nullptr) entered(*record);
  }
  record->open.clear();
  record->open_usage.clear();
  record->usage.forget_open();
  record->dropped_begins = 0;
  record->last_event_ns = 0;
  record->generation = generation();
  return record;
}

// A record that no thread uses: of an ended thread of this name, of forgotten trees, or a new one.
ThreadRecord* Registry::take_record(uint32_t name) {
  std::vector<ThreadRecord*>& idle = idle_[name];
  if (!idle.empty()) {
    ThreadRecord* const record = idle.back();
    idle.pop_back();
    return record;
  }
  if (!forgotten_.empty()) {
    ThreadRecord* const record = forgotten_.back();
    forgotten_.pop_back();
    record->begin_anew(name);
    return record;
  }
  std::unique_ptr<ThreadRecord>* row = threads_.size() < kMaxThreads ? threads_.prepare() : nullptr;
  if (row == nullptr) {
    losses_.add(Loss::threads_refused);
    return nullptr;
  }
  *row = std::make_unique<ThreadRecord>(budget_, losses_, name,
                                        static_cast<uint32_t>(threads_.size()));
  ThreadRecord* const record = row->get();
  record->open.reserve(64);
  threads_.publish();
  return record;
}

ThreadRecord* Registry::enter() {
  const uint32_t name = strings_.intern(thread_name());
  const std::lock_guard<std::mutex> lock(mutex_);
  if (own_ != nullptr) forgotten_.push_back(own_);
  own_ = nullptr;
  exit_of_thread.record = nullptr;
  ThreadRecord* const record = take_record(name);
  if (record == nullptr) return nullptr;
  record->os_thread.store(syscall(SYS_gettid), std::memory_order_relaxed);
  // Sequence numbers are a thread's own: those of an earlier owner say nothing any more.
  const uint64_t earlier = record->framework_thread.exchange(0, std::memory_order_relaxed);
  if (earlier != 0 && earlier < kFrameworkThreads) framework_threads_[earlier].store(nullptr);
  record->forward.change_owner();
  record->epoch.store(epoch_.load(std::memory_order_relaxed), std::memory_order_release);
  own_ = record;
  exit_of_thread.record = record;
  return record;
}

void Registry::leave(ThreadRecord* record) {
  own_ = nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (record->epoch.load(std::memory_order_relaxed) == epoch_.load(std::memory_order_relaxed)) {
    idle_[record->name].push_back(record);
  } else {
    forgotten_.push_back(record);
  }
}

}  // namespace dctx::monitor
