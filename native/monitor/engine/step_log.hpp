#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
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
  int64_t wall_ns;      // of the steps; pauses of the recording between them are left out
  ProcessUsage used;    // rss_bytes: the greatest at the end of one of its steps
  int64_t host_gap_ns;  // Python time before events on the thread that ended the steps; −1: not
                        // known, as several threads ended them

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
  }
};

// A moment, and what was used up to it.
struct StepMoment {
  int64_t now_ns = 0;
  ProcessUsage used{};
  const void* thread = nullptr;  // tells threads apart; null: none
  int64_t host_gap_ns = 0;       // of that thread since its first event
};

class StepLog {
 public:
  static constexpr size_t kMaxSpans = 4096;

  // The recording began: the first step counts from here.
  void begin(const StepMoment& now);
  // Recording goes on after a pause: the step counts from here.
  void resume(const StepMoment& now);
  // A step ended, as the scope tells that ends them.
  void mark(const StepMoment& now);
  // A step ended, as the program says itself: from the first time on nothing else ends steps, and
  // what optimizers ended before is forgotten.
  void mark_by_program(const StepMoment& now);
  // The spans so far, in order. Called by the recorder: the lock is held for a copy of at most
  // kMaxSpans rows, and marks never allocate under it.
  std::vector<StepSpan> spans();
  uint64_t count();
  std::mutex& mutex() { return mutex_; }

 private:
  void add(const StepMoment& now);
  void forget(const StepMoment& from);

  std::mutex mutex_;
  std::array<StepSpan, kMaxSpans> spans_{};
  size_t used_ = 0;
  uint64_t per_span_ = 1;
  uint64_t steps_ = 0;
  StepMoment last_;
  StepMoment begin_;
  bool told_by_program_ = false;
};

}  // namespace dctx::monitor
