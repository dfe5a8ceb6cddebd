#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "monitor/engine/process_usage.hpp"

namespace dctx::monitor {

// Training steps: where each ended. At most kMaxSpans spans are kept; when they are full,
// neighbours are merged pairwise, so that a long run costs no more than a short one.
struct StepSpan {
  uint64_t first;    // number of the first step in it, from 0
  uint64_t count;    // steps in it
  int64_t begin_ns;  // Clock::now_ns()
  int64_t end_ns;
  int64_t longest_ns;
  int64_t wall_ns;          // of the steps; pauses of the recording between them are left out
  ProcessUsage used;        // rss_bytes: the greatest at the end of one of its steps
  int64_t host_gap_ns;      // Python time before events on the thread that ended the steps; −1: not
                            // known, as several threads ended them
  int64_t gpu_busy_ns = 0;  // devices were busy, summed over them
  uint64_t copied_bytes = 0;      // by devices, in copies that began in the steps
  int64_t device_peak_bytes = 0;  // the most that torch's allocator had in use of one device

  void merge(const StepSpan& next) {
    count += next.count;
    end_ns = next.end_ns;
    longest_ns = std::max(longest_ns, next.longest_ns);
    wall_ns += next.wall_ns;
    used.cpu_ns += next.used.cpu_ns;
    used.faults += next.used.faults;
    used.switches += next.used.switches;
    used.rss_bytes = std::max(used.rss_bytes, next.used.rss_bytes);
    const bool known = host_gap_ns >= 0 && next.host_gap_ns >= 0;
    host_gap_ns = known ? host_gap_ns + next.host_gap_ns : -1;
    gpu_busy_ns += next.gpu_busy_ns;
    copied_bytes += next.copied_bytes;
    device_peak_bytes = std::max(device_peak_bytes, next.device_peak_bytes);
  }
};

// A moment, and what was used up to it: nothing where it was not asked, as asking costs more than
// a short step may take.
struct StepMoment {
  int64_t now_ns = 0;
  std::optional<ProcessUsage> used{};
  const void* thread = nullptr;  // tells threads apart; null: none
  int64_t host_gap_ns = 0;       // of that thread since its first event
};

class StepLog {
 public:
  static constexpr size_t kMaxSpans = 400;

  // The recording began: the first step counts from here.
  void begin(const StepMoment& now);
  // Whether a step that ends now tells what was used: each of the first kAskedSteps, then one a
  // millisecond. What steps shorter than that used counts with the next one that tells it.
  bool asks_usage(int64_t now_ns) const {
    return now_ns >= asks_from_ns_.load(std::memory_order_relaxed);
  }
  static constexpr uint32_t kAskedSteps = 16;
  static constexpr int64_t kAskEveryNs = 1'000'000;
  // Recording goes on after a pause: the step counts from here.
  void resume(const StepMoment& now);
  // A step ended, as the scope tells that ends them.
  void mark(const StepMoment& now);
  // A step ended, as the program says itself: from the first time on nothing else ends steps, and
  // what optimizers ended before is forgotten.
  void mark_by_program(const StepMoment& now);
  // A device was busy, or moved bytes from this time on: told when it is over, so that what is
  // later than the last end of a step is of the step that runs.
  void add_busy(int64_t begin_ns, int64_t end_ns);
  void add_copied(int64_t begin_ns, uint64_t bytes);
  // After an allocation or a release, from any thread; takes no lock.
  void memory_in_use(int32_t device, int64_t bytes);
  // The spans so far, in order. Called by the recorder: the lock is held for a copy of at most
  // kMaxSpans rows, and marks never allocate under it.
  std::vector<StepSpan> spans();
  uint64_t count();
  std::mutex& mutex() { return mutex_; }

 private:
  void add(const StepMoment& now);
  void forget(const StepMoment& from);
  void take_usage(const StepMoment& now);
  StepSpan* first_ending_after(int64_t ns);
  int64_t take_peak();

  std::mutex mutex_;
  std::array<StepSpan, kMaxSpans> spans_{};
  size_t used_ = 0;
  uint64_t per_span_ = 1;
  uint64_t steps_ = 0;
  StepMoment last_;
  ProcessUsage used_by_now_;  // as last told
  uint32_t asked_ = 0;        // how often, since recording began or went on
  std::atomic<int64_t> asks_from_ns_{0};
  StepMoment begin_;
  bool told_by_program_ = false;
  int64_t open_busy_ns_ = 0;  // of the step that runs
  uint64_t open_copied_bytes_ = 0;
  static constexpr size_t kMaxDevices = 64;
  std::array<std::atomic<int64_t>, kMaxDevices> in_use_bytes_{};  // as last told
  std::atomic<int64_t> peak_bytes_{0};                            // of the step that runs
};

}  // namespace dctx::monitor
