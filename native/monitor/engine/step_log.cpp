#include "monitor/engine/step_log.hpp"

#include <algorithm>

namespace dctx::monitor {

void StepLog::begin(int64_t now_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  used_ = 0;
  per_span_ = 1;
  steps_ = 0;
  last_ns_ = begin_ns_ = now_ns;
  told_by_program_ = false;
}

void StepLog::resume(int64_t now_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  last_ns_ = now_ns;
  if (steps_ == 0) begin_ns_ = now_ns;
}

void StepLog::mark(int64_t now_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!told_by_program_) add(now_ns);
}

void StepLog::mark_by_program(int64_t now_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!told_by_program_) {
    told_by_program_ = true;
    used_ = 0;
    per_span_ = 1;
    steps_ = 0;
    last_ns_ = begin_ns_;
  }
  add(now_ns);
}

void StepLog::add(int64_t now_ns) {
  const int64_t duration_ns = now_ns - last_ns_;
  if (used_ > 0 && spans_[used_ - 1].count < per_span_) {
    StepSpan& span = spans_[used_ - 1];
    ++span.count;
    span.end_ns = now_ns;
    span.longest_ns = std::max(span.longest_ns, duration_ns);
  } else {
    if (used_ == kMaxSpans) {
      for (size_t i = 0; i < kMaxSpans / 2; ++i) {
        const StepSpan& left = spans_[2 * i];
        const StepSpan& right = spans_[2 * i + 1];
        spans_[i] = {left.first, left.count + right.count, left.begin_ns, right.end_ns,
                     std::max(left.longest_ns, right.longest_ns)};
      }
      used_ = kMaxSpans / 2;
      per_span_ *= 2;
    }
    spans_[used_++] = {steps_, 1, last_ns_, now_ns, duration_ns};
  }
  ++steps_;
  last_ns_ = now_ns;
}

std::vector<StepSpan> StepLog::spans() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(used_)};
}

uint64_t StepLog::count() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return steps_;
}

}  // namespace dctx::monitor
