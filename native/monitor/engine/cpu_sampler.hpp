#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "monitor/engine/sample_ring.hpp"
#include "monitor/engine/thread_record.hpp"

namespace dctx::monitor {

// A function that samples fell into, below the context that was open.
struct SampledPlace {
  uint32_t thread;
  uint32_t node;
  uint64_t function;  // label of a native node; kNoFunction: in no library

  static constexpr uint64_t kNoFunction = ~uint64_t{0};
  bool operator==(const SampledPlace& other) const {
    return thread == other.thread && node == other.node && function == other.function;
  }
};

// Looks at each recorded thread so many times a second of CPU time that it uses: a timer of the
// thread's own, whose signal handler notes the open context and the instruction.
class CpuSampler {
 public:
  static CpuSampler& instance();

  // Threads that record from now on are sampled. False, with the reason, when the system refuses:
  // nothing is sampled then. `function`: the label of the function around an instruction, or
  // kNoFunction; called by collect() alone.
  bool start(uint32_t hz, uint64_t (*function)(uintptr_t pc), std::string* reason);
  void stop();
  bool running() const;
  // Takes what the handlers have noted, and forgets threads that have ended. From one thread at a
  // time, several times a second.
  void collect();
  // By place, since start(). Only for the thread that collects.
  const auto& places() const { return places_; }
  // Samples that a full ring refused.
  uint64_t dropped() const;
  // In a forked child: its one thread has no timer.
  void after_fork_in_child();
  std::mutex& mutex() { return mutex_; }

 private:
  struct Hash {
    size_t operator()(const SampledPlace& place) const;
  };
  struct Sampled;
  struct Owner;

  CpuSampler() = default;
  static void enter(ThreadRecord& record);

  std::mutex mutex_;  // of what follows
  std::vector<std::shared_ptr<Sampled>> threads_;
  uint64_t (*function_)(uintptr_t pc) = nullptr;
  std::unordered_map<SampledPlace, uint64_t, Hash> places_;
};

}  // namespace dctx::monitor
