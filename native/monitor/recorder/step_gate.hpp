#pragma once
#include <cstdint>
#include <mutex>

namespace dctx::monitor {

// Which steps to record: of those from `start` on one in `every`, `steps` of them (0: all).
struct StepWindow {
  uint64_t start = 0;
  uint64_t steps = 0;
  uint64_t every = 1;

  bool limits() const { return start > 0 || steps > 0 || every > 1; }
  bool operator==(const StepWindow& other) const {
    return start == other.start && steps == other.steps && every == other.every;
  }
  bool holds(uint64_t step) const {
    if (step < start) return false;
    const uint64_t after = step - start;
    return (steps == 0 || after < steps * every) && after % every == 0;
  }
};

// Who says that a step ended. Once the program ends steps itself, optimizers do not; where the user
// named a scope, nothing else does.
enum class StepTeller : uint8_t { optimizer, program, scope };

// Counts the steps of the program, also those that are not recorded.
class StepGate {
 public:
  void begin(const StepWindow& window, bool by_scope) {
    const std::lock_guard<std::mutex> lock(mutex_);
    window_ = window;
    teller_ = by_scope ? StepTeller::scope : StepTeller::optimizer;
    step_ = 0;
  }
  const StepWindow& window() const { return window_; }
  // The step that runs now is to be recorded.
  bool open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return window_.holds(step_);
  }
  // The next step begins; whether it is to be recorded.
  bool step_ended(StepTeller by) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (by == StepTeller::program && teller_ == StepTeller::optimizer) {
      teller_ = StepTeller::program;
      step_ = 0;  // what optimizers said was something else
    }
    if (by == teller_) ++step_;
    return window_.holds(step_);
  }
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  StepWindow window_;
  StepTeller teller_ = StepTeller::optimizer;
  uint64_t step_ = 0;
};

}  // namespace dctx::monitor
