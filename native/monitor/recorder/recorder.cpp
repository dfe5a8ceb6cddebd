#include "monitor/recorder/recorder.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "monitor/engine/clock.hpp"
#include "monitor/recorder/chunks.hpp"

namespace dctx::monitor {
namespace {

constexpr uint64_t kGrowth = 4;  // times the compact size

int64_t utc_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The recorder's thread takes no signal: those are the program's.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

Recorder& Recorder::instance() {
  static Recorder* const recorder = [] {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    return new Recorder;
  }();
  return *recorder;
}

bool Recorder::start(const RecorderOptions& options, const std::string& meta) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (worker_ != nullptr) return false;
  options_ = options;
  meta_ = meta;
  attached_.clear();
  state_ = RecorderState{};
  state_.running = true;
  state_.path = options.path;
  compact_bytes_ = 0;
  torn_ = false;
  file_.close();
  Registry& registry = Registry::instance();
  writer_ = std::make_unique<SnapshotWriter>(registry);
  start_utc_ns_ = utc_ns();
  start_monotonic_ns_ = monotonic_ns();
  set_active(options.start_ns <= 0);
  worker_ = std::make_unique<Worker>();
  Worker& worker = *worker_;
  const SignalsBlocked blocked;
  worker.thread = std::thread([this, &worker] { run(worker); });
  return true;
}

void Recorder::set_meta(const std::string& meta) {
  const std::lock_guard<std::mutex> lock(mutex_);
  meta_ = meta;
}

void Recorder::attach(uint32_t type, std::string content) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (worker_ != nullptr) attached_.push_back({type, std::move(content)});
}

void Recorder::record(bool on) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (worker_ != nullptr) set_active(on);
}

void Recorder::set_active(bool on) {
  Registry& registry = Registry::instance();
  if (on == registry.active()) return;
  if (on) {
    registry.start(registry.config());
  } else {
    registry.stop();
  }
}

bool Recorder::snapshot() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return worker_ != nullptr && write(false);
}

RecorderState Recorder::state() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return state_;
}

RecorderState Recorder::stop() {
  std::unique_ptr<Worker> worker;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    worker = std::move(worker_);
    if (worker == nullptr) return state_;
  }
  {
    const std::lock_guard<std::mutex> lock(worker->mutex);
    worker->ending = true;
  }
  worker->wake.notify_all();
  worker->thread.join();
  const std::lock_guard<std::mutex> lock(mutex_);
  Registry::instance().stop();
  write(true);
  file_.close();
  writer_.reset();
  state_.running = false;
  return state_;
}

// Sleeps until the next snapshot, or until the engine is to start or stop.
void Recorder::run(Worker& worker) {
  pthread_setname_np(pthread_self(), "dctx-recorder");
  using Steady = std::chrono::steady_clock;
  const auto begin = Steady::now();
  const auto at = [&](int64_t ns) { return begin + std::chrono::nanoseconds(ns); };
  int64_t start_ns = options_.start_ns;
  int64_t stop_ns = options_.stop_ns;
  auto next = at(options_.interval_ns);
  std::unique_lock<std::mutex> lock(worker.mutex);
  while (!worker.ending) {
    auto until = next;
    if (start_ns > 0) until = std::min(until, at(start_ns));
    if (stop_ns > 0) until = std::min(until, at(stop_ns));
    worker.wake.wait_until(lock, until);
    if (worker.ending) break;
    lock.unlock();
    const auto now = Steady::now();
    if (start_ns > 0 && now >= at(start_ns)) {
      record(true);
      start_ns = -1;
    }
    if (stop_ns > 0 && now >= at(stop_ns)) {
      record(false);
      stop_ns = -1;
    }
    if (now >= next) {
      snapshot();
      next = Steady::now() + std::chrono::nanoseconds(options_.interval_ns);
    }
    lock.lock();
  }
}

SnapshotFacts Recorder::facts(bool last) const {
  return {utc_ns(), monotonic_ns(), state_.cpu_ns, last, &attached_};
}

bool Recorder::write(bool last) {
  const int64_t begin_ns = thread_cpu_ns();
  bool written = false;
  if (last || !file_.is_open() || torn_) written = write_fresh(last);
  if (!written && file_.is_open() && !torn_) {
    std::string news;
    state_.totals = writer_->append(news, meta_, facts(last));
    written = file_.append(news, options_.durable);
    torn_ = !written;  // what the writer takes for written is not there
    if (written) compact_when_large();
  }
  if (written) {
    ++state_.snapshots;
    state_.error.clear();
  } else if (state_.totals.any() || !attached_.empty()) {
    state_.error = file_.error();
  }
  state_.file_bytes = file_.is_open() ? file_.size() : 0;
  state_.cpu_ns += thread_cpu_ns() - begin_ns;
  return written;
}

// The whole recording in a new file. None is made when there is nothing in it.
bool Recorder::write_fresh(bool last) {
  auto fresh = std::make_unique<SnapshotWriter>(Registry::instance());
  std::string all = file_header(start_utc_ns_, start_monotonic_ns_);
  const Totals totals = fresh->append(all, meta_, facts(last));
  state_.totals = totals;
  if (!totals.any() && attached_.empty()) return false;
  compact_bytes_ = all.size();
  if (!file_.replace(options_.path, all, options_.durable)) return false;
  writer_ = std::move(fresh);
  torn_ = false;
  return true;
}

void Recorder::compact_when_large() {
  const uint64_t size = file_.size();
  if (size <= options_.compact_bytes || size <= kGrowth * compact_bytes_) return;
  auto fresh = std::make_unique<SnapshotWriter>(Registry::instance());
  std::string all = file_header(start_utc_ns_, start_monotonic_ns_);
  fresh->append(all, meta_, facts(false));
  compact_bytes_ = all.size();
  if (size <= kGrowth * compact_bytes_) return;
  if (file_.replace(options_.path, all, options_.durable)) {
    writer_ = std::move(fresh);
    ++state_.compactions;
  }
}

void Recorder::before_fork() {
  instance().mutex_.lock();
  Registry::instance().before_fork();
}

void Recorder::after_fork_in_parent() {
  Registry::instance().after_fork_in_parent();
  instance().mutex_.unlock();
}

// The child has none of the other threads: their objects are given up, not destroyed. It does not
// record until it is told to, and never writes to the parent's file.
void Recorder::after_fork_in_child() {
  Recorder& recorder = instance();
  Registry::instance().stop();
  Registry::instance().reset_after_fork();
  static_cast<void>(recorder.worker_.release());
  recorder.file_.close();
  recorder.writer_.reset();
  recorder.attached_.clear();
  recorder.state_ = RecorderState{};
  recorder.mutex_.unlock();
}

}  // namespace dctx::monitor
