#pragma once
#include <cstdint>
#include <limits>

#include "monitor/engine/clock.hpp"
#include "monitor/engine/thread_record.hpp"

namespace dctx::monitor {

// Times one hook in HookCost::kEvery.
class Timed {
 public:
  explicit Timed(ThreadRecord& record)
      : record_(record), begin_ns_(record.cost.next() ? Clock::now_ns() : kNotTimed) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() {
    if (begin_ns_ != kNotTimed) record_.cost.add(Clock::now_ns() - begin_ns_);
  }

 private:
  static constexpr int64_t kNotTimed = std::numeric_limits<int64_t>::min();
  ThreadRecord& record_;
  int64_t begin_ns_;
};

}  // namespace dctx::monitor
