#include "monitor/engine/step_log.hpp"

#include <algorithm>
#include <utility>

namespace dctx::monitor {

void StepLog::forget(const StepMoment& from) {
  used_ = 0;
  per_span_ = 1;
  steps_ = 0;
  last_ = from;
  asked_ = 0;
  take_usage(from);
}

void StepLog::take_usage(const StepMoment& now) {
  if (!now.used) return;
  used_by_now_ = *now.used;
  const int64_t pause_ns = asked_++ < kAskedSteps ? 0 : kAskEveryNs;
  asks_from_ns_.store(now.now_ns + pause_ns, std::memory_order_relaxed);
}

void StepLog::begin(const StepMoment& now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  StepMoment from = now;
  from.thread = nullptr;  // no thread has recorded anything yet
  from.host_gap_ns = 0;
  forget(from);
  open_busy_ns_ = 0;
  open_copied_bytes_ = 0;
  for (std::atomic<int64_t>& bytes : in_use_bytes_) bytes.store(0, std::memory_order_relaxed);
  peak_bytes_.store(0, std::memory_order_relaxed);
  begin_ = from;
  told_by_program_ = false;
}

// The thread's own time stands still while nothing is recorded: it goes on from where it was.
void StepLog::resume(const StepMoment& now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  last_.now_ns = now.now_ns;
  asked_ = 0;
  take_usage(now);
  open_busy_ns_ = 0;  // of a step that was not ended
  open_copied_bytes_ = 0;
  take_peak();
  if (steps_ == 0) {
    begin_ = last_;
    begin_.used = used_by_now_;
  }
}

void StepLog::mark(const StepMoment& now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!told_by_program_) add(now);
}

void StepLog::mark_by_program(const StepMoment& now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!told_by_program_) {
    told_by_program_ = true;
    // The first step reaches back to the begin: what devices did since then is its.
    for (size_t i = 0; i < used_; ++i) {
      open_busy_ns_ += spans_[i].gpu_busy_ns;
      open_copied_bytes_ += spans_[i].copied_bytes;
      int64_t peak = peak_bytes_.load(std::memory_order_relaxed);
      peak = std::max(peak, spans_[i].device_peak_bytes);
      peak_bytes_.store(peak, std::memory_order_relaxed);
    }
    forget(begin_);
  }
  add(now);
}

void StepLog::add(const StepMoment& now) {
  const int64_t duration_ns = now.now_ns - last_.now_ns;
  const bool same = last_.thread == nullptr || last_.thread == now.thread;
  const ProcessUsage before = used_by_now_;
  take_usage(now);
  StepSpan step{steps_, 1, last_.now_ns, now.now_ns, duration_ns, duration_ns, used_by_now_, 0, 0,
                0,      0};
  step.used.cpu_ns -= before.cpu_ns;
  step.used.faults -= before.faults;
  step.used.switches -= before.switches;
  step.gpu_busy_ns = std::exchange(open_busy_ns_, 0);
  step.copied_bytes = std::exchange(open_copied_bytes_, 0);
  step.device_peak_bytes = take_peak();
  step.host_gap_ns = same ? now.host_gap_ns - last_.host_gap_ns : -1;
  if (used_ > 0 && spans_[used_ - 1].count < per_span_) {
    spans_[used_ - 1].merge(step);
  } else {
    if (used_ == kMaxSpans) {
      for (size_t i = 0; i < kMaxSpans / 2; ++i) {
        spans_[i] = spans_[2 * i];
        spans_[i].merge(spans_[2 * i + 1]);
      }
      used_ = kMaxSpans / 2;
      per_span_ *= 2;
    }
    spans_[used_++] = step;
  }
  ++steps_;
  last_ = now;
}

void StepLog::memory_in_use(int32_t device, int64_t bytes) {
  if (device < 0 || static_cast<size_t>(device) >= kMaxDevices) return;
  in_use_bytes_[static_cast<size_t>(device)].store(bytes, std::memory_order_relaxed);
  int64_t peak = peak_bytes_.load(std::memory_order_relaxed);
  while (peak < bytes &&
         !peak_bytes_.compare_exchange_weak(peak, bytes, std::memory_order_relaxed)) {
  }
}

// The next step begins with what is in use now.
int64_t StepLog::take_peak() {
  int64_t in_use = 0;
  for (const std::atomic<int64_t>& bytes : in_use_bytes_) {
    in_use = std::max(in_use, bytes.load(std::memory_order_relaxed));
  }
  return peak_bytes_.exchange(in_use, std::memory_order_relaxed);
}

StepSpan* StepLog::first_ending_after(int64_t ns) {
  return std::upper_bound(spans_.data(), spans_.data() + used_, ns,
                          [](int64_t at, const StepSpan& span) { return at < span.end_ns; });
}

void StepLog::add_busy(int64_t begin_ns, int64_t end_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const StepSpan* const end = spans_.data() + used_;
  for (StepSpan* span = first_ending_after(begin_ns); span != end && span->begin_ns < end_ns;
       ++span) {
    span->gpu_busy_ns += std::min(end_ns, span->end_ns) - std::max(begin_ns, span->begin_ns);
  }
  open_busy_ns_ += std::max<int64_t>(0, end_ns - std::max(begin_ns, last_.now_ns));
}

void StepLog::add_copied(int64_t begin_ns, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  StepSpan* const span = first_ending_after(begin_ns);
  if (span != spans_.data() + used_) {
    if (span->begin_ns <= begin_ns) span->copied_bytes += bytes;
  } else if (begin_ns >= last_.now_ns) {
    open_copied_bytes_ += bytes;
  }
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
