#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

namespace dctx::monitor {

// Training steps: where each ended. At most kMaxSpans spans are kept; when they are full,
// neighbours are merged pairwise, so that a long run costs no more than a short one.
struct StepSpan {
  uint64_t first;    // number of the first step in it, from 0
  uint64_t count;    // steps in it
  int64_t begin_ns;  // Clock::now_ns()
  int64_t end_ns;
  int64_t longest_ns;
};

class StepLog {
 public:
  static constexpr size_t kMaxSpans = 4096;

  // The recording began: the first step counts from here.
  void begin(int64_t now_ns);
  // Recording goes on after a pause: the step counts from here.
  void resume(int64_t now_ns);
  // A step ended, as an optimizer's scope tells.
  void mark(int64_t now_ns);
  // A step ended, as the program says itself: from the first time on nothing else ends steps, and
  // what optimizers ended before is forgotten.
  void mark_by_program(int64_t now_ns);
  // The spans so far, in order, and where the next begins. Called by the recorder: the lock is
  // held for a copy of at most kMaxSpans rows, and marks never allocate under it.
  std::vector<StepSpan> spans();
  uint64_t count();
  std::mutex& mutex() { return mutex_; }

 private:
  void add(int64_t now_ns);

  std::mutex mutex_;
  std::array<StepSpan, kMaxSpans> spans_{};
  size_t used_ = 0;
  uint64_t per_span_ = 1;
  uint64_t steps_ = 0;
  int64_t last_ns_ = 0;
  int64_t begin_ns_ = 0;
  bool told_by_program_ = false;
};

}  // namespace dctx::monitor
