// Which steps are recorded.
#include "monitor/recorder/step_gate.hpp"

#include <vector>

#include "check.hpp"

using namespace dctx::monitor;

namespace {

// The numbers of the steps among the first eight that are recorded.
std::vector<uint64_t> recorded(const StepWindow& window) {
  StepGate gate;
  gate.begin(window, false);
  std::vector<uint64_t> steps;
  for (uint64_t step = 0; step < 8; ++step) {
    if (gate.open()) steps.push_back(step);
    gate.step_ended(StepTeller::program);
  }
  return steps;
}

void windows_of_steps() {
  CHECK(recorded({2, 0, 1}) == (std::vector<uint64_t>{2, 3, 4, 5, 6, 7}));
  CHECK(recorded({1, 2, 1}) == (std::vector<uint64_t>{1, 2}));
  CHECK(recorded({0, 0, 3}) == (std::vector<uint64_t>{0, 3, 6}));
  CHECK(recorded({1, 2, 3}) == (std::vector<uint64_t>{1, 4}));
  CHECK(!StepWindow{}.limits());
}

void who_ends_steps() {
  StepGate gate;
  gate.begin({2, 0, 1}, false);
  CHECK(!gate.step_ended(StepTeller::optimizer));
  CHECK(gate.step_ended(StepTeller::optimizer));
  CHECK(!gate.step_ended(StepTeller::program));  // takes back what optimizers said
  CHECK(!gate.step_ended(StepTeller::optimizer));
  CHECK(!gate.step_ended(StepTeller::scope));
  CHECK(gate.step_ended(StepTeller::program));
  gate.begin({1, 0, 1}, true);  // a scope that the user named
  CHECK(!gate.step_ended(StepTeller::program));
  CHECK(!gate.step_ended(StepTeller::optimizer));
  CHECK(gate.step_ended(StepTeller::scope));
}

}  // namespace

int main() {
  windows_of_steps();
  who_ends_steps();
  return dctx_test::failures == 0 ? 0 : 1;
}
