#include "monitor/recorder/recorder.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "monitor/engine/clock.hpp"
#include "monitor/engine/cpu_sampler.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/recorder/status_line.hpp"
#include "monitor/recorder/toggle_signal.hpp"

namespace dctx::monitor {
namespace {

constexpr int64_t kLongestWait = 60'000;            // ms
constexpr std::chrono::milliseconds kCollect{100};  // a ring holds the samples of a second

void marked() { Recorder::instance().step_ended(StepTeller::scope); }

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
  if (!forked_ || !(options.window == gate_.window())) {
    gate_.begin(options.window, registry.config().step_marker != 0);
  }
  // What the user paused or let go on is so in a forked child too.
  const bool paused = forked_ ? (pauses_ & static_cast<uint8_t>(Pause::user)) != 0 : options.paused;
  forked_ = false;
  marker_ended.store(options.window.limits() ? marked : nullptr, std::memory_order_release);
  pauses_ = 0;
  set_pause(Pause::user, paused);
  set_pause(Pause::time, options.start_ns > 0);
  set_pause(Pause::steps, !gate_.open());
  worker_ = std::make_unique<Worker>();
  Worker& worker = *worker_;
  open_controls(worker);
  const SignalsBlocked blocked;
  worker.thread = std::thread([this, &worker] { run(worker); });
  return true;
}

void Recorder::open_controls(Worker& worker) {
  if (options_.toggle_signal != 0 &&
      !ToggleSignal::take(options_.toggle_signal, worker.wake.write_descriptor())) {
    state_.trouble =
        "the system does not give away signal " + std::to_string(options_.toggle_signal);
  }
  if (!options_.control_path.empty() && !worker.control.open(options_.control_path)) {
    state_.trouble =
        "no control socket at " + options_.control_path + ": " + worker.control.error();
  }
}

void Recorder::set_meta(const std::string& meta) {
  const std::lock_guard<std::mutex> lock(mutex_);
  meta_ = meta;
}

void Recorder::attach(uint32_t type, std::string content) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (worker_ != nullptr) attached_.push_back({type, std::move(content)});
}

void Recorder::pause(Pause by, bool on) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (worker_ != nullptr) set_pause(by, on);
}

void Recorder::toggle() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool paused = (pauses_ & static_cast<uint8_t>(Pause::user)) != 0;
  if (worker_ != nullptr) set_pause(Pause::user, !paused);
}

void Recorder::step_ended(StepTeller by) {
  const bool wanted = gate_.step_ended(by);
  // The lock may wait for a snapshot: it is taken only where something changes.
  if (gate_.window().limits() && wanted == steps_paused_.load()) pause(Pause::steps, !wanted);
}

void Recorder::set_pause(Pause by, bool on) {
  const auto bit = static_cast<uint8_t>(by);
  pauses_ = static_cast<uint8_t>(on ? pauses_ | bit : pauses_ & ~bit);
  if (by == Pause::steps) steps_paused_.store(on);
  Registry& registry = Registry::instance();
  const bool active = pauses_ == 0;
  state_.recording = active;
  if (active == registry.active()) return;
  if (active) {
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
  worker->ending.store(true);
  worker->wake.ring(0);
  worker->thread.join();
  ToggleSignal::give_back();
  worker->control.close();
  const std::lock_guard<std::mutex> lock(mutex_);
  Registry::instance().stop();
  write(true);
  file_.close();
  writer_.reset();
  state_.running = state_.recording = false;
  return state_;
}

// Sleeps until the next snapshot, the engine is to start or stop, or somebody has a wish.
void Recorder::run(Worker& worker) {
  pthread_setname_np(pthread_self(), "dctx-recorder");
  using Steady = std::chrono::steady_clock;
  const auto begin = Steady::now();
  const auto at = [&](int64_t ns) { return begin + std::chrono::nanoseconds(ns); };
  int64_t start_ns = options_.start_ns;
  int64_t stop_ns = options_.stop_ns;
  auto next = at(options_.interval_ns);
  std::array<pollfd, 2> waits{};
  waits[0] = {worker.wake.read_descriptor(), POLLIN, 0};
  waits[1] = {worker.control.descriptor(), POLLIN, 0};  // negative: poll passes over it
  while (!worker.ending.load()) {
    auto until = next;
    if (start_ns > 0) until = std::min(until, at(start_ns));
    if (stop_ns > 0) until = std::min(until, at(stop_ns));
    if (CpuSampler::instance().running()) until = std::min(until, Steady::now() + kCollect);
    // Rounded up: a wait that ends too early would be followed by one of no length at all.
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - Steady::now()).count();
    ::poll(waits.data(), waits.size(),
           static_cast<int>(std::clamp<int64_t>(wait, 0, kLongestWait)));
    for (const char rung : worker.wake.take()) {
      if (rung == ToggleSignal::kToggle) toggle();
    }
    if (worker.ending.load()) break;
    if ((waits[1].revents & POLLIN) != 0) {
      worker.control.serve([this](std::string_view command) { return answer(command); });
    }
    const auto now = Steady::now();
    if (start_ns > 0 && now >= at(start_ns)) {
      pause(Pause::time, false);
      start_ns = -1;
    }
    if (stop_ns > 0 && now >= at(stop_ns)) {
      pause(Pause::time, true);
      stop_ns = -1;
    }
    if (CpuSampler::instance().running()) {
      const std::lock_guard<std::mutex> lock(mutex_);
      CpuSampler::instance().collect();
    }
    if (now >= next) {
      snapshot();
      next = Steady::now() + std::chrono::nanoseconds(options_.interval_ns);
    }
  }
}

// What a client of the control socket asked for, and then how things stand.
std::string Recorder::answer(std::string_view command) {
  if (command == "start") {
    pause(Pause::user, false);
  } else if (command == "stop") {
    pause(Pause::user, true);
    snapshot();
  } else if (command == "snapshot") {
    snapshot();
  } else if (command != "status") {
    return error_line("commands are start, stop, snapshot and status");
  }
  return status_line(state());
}

}  // namespace dctx::monitor
