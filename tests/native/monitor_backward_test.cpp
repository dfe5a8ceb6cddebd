// Backward operators hang from their forward ones; listeners are told of events.
#include <thread>

#include "check.hpp"
#include "frame_stack.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/engine/listeners.hpp"

using namespace dctx::monitor;
using dctx_test::begin_recording;
using dctx_test::Call;
using dctx_test::Code;
using dctx_test::counted_paths;
using dctx_test::Op;
using dctx_test::registry;
using Lines = std::vector<std::string>;

namespace {

const Code kMain{"main.py", "main"};

void backward_hangs_from_its_forward_operator() {
  ThreadRecord& record = begin_recording();
  Call main(kMain, 1);
  {
    const Op outer(record, "aten::linear", 41);
    const Op inner(record, "aten::addmm", 41);  // the innermost one with the number counts
  }
  main.at(2);  // loss.backward()
  const int evaluation = 0;
  const int backward = 0;
  begin_evaluation(record, &evaluation,
                   operator_name(record, "autograd::engine::evaluate_function: AddmmBackward0"));
  {
    const Op hook(record, "aten::hook");
  }
  begin_backward(record, &backward, operator_name(record, "AddmmBackward0"), {&record, 41});
  {
    const Op op(record, "aten::mm");
  }
  CHECK(end_event(record, &backward));
  {
    const Op op(record, "aten::sum");
  }
  CHECK(end_event(record, &evaluation));
  const std::string forward = "main.py:1 main > aten::linear > aten::addmm";
  const std::string evaluated =
      forward + " > autograd::engine::evaluate_function: AddmmBackward0 (backward)";
  CHECK_EQUAL(
      counted_paths(record.store),
      (Lines{"1 main.py:1 main > aten::linear", "1 " + forward, "1 main.py:2 main > aten::hook",
             "1 " + evaluated, "1 " + evaluated + " > AddmmBackward0 (backward)",
             "1 " + evaluated + " > AddmmBackward0 (backward) > aten::mm",
             "1 " + evaluated + " > aten::sum"}));
  for (uint32_t node = 0; node < record.store.node_count(); ++node) {
    const NodeView view = record.store.view(node);
    if (view.alternate == kNoNode) continue;
    CHECK_EQUAL(dctx_test::path_text(record.store, view.alternate), "main.py:2 main");
  }
  CHECK_EQUAL(registry().losses().get(Loss::association_misses), 0U);
}

void backward_without_its_forward_operator_stays() {
  ThreadRecord& record = begin_recording();
  Call main(kMain, 2);
  const int first[2] = {};
  const int second[2] = {};
  for (const int sequence : {-1, 99}) {
    const size_t i = sequence < 0 ? 0 : 1;
    begin_evaluation(record, &first[i],
                     operator_name(record, "autograd::engine::evaluate_function: A"));
    begin_backward(record, &second[i], operator_name(record, "A"), {&record, sequence});
    CHECK(end_event(record, &second[i]));
    CHECK(end_event(record, &first[i]));
  }
  const std::string evaluated =
      "main.py:2 main > autograd::engine::evaluate_function: A (backward)";
  CHECK_EQUAL(counted_paths(record.store),
              (Lines{"2 " + evaluated, "2 " + evaluated + " > A (backward)"}));
  // AccumulateGrad has no number: nothing is missing there.
  CHECK_EQUAL(registry().losses().get(Loss::association_misses), 1U);
}

void backward_on_another_thread_makes_the_path_again() {
  ThreadRecord& record = begin_recording();
  Call main(kMain, 1);
  {
    const Op op(record, "aten::addmm", 7);
  }
  std::thread([&record] {
    ThreadRecord& own = *registry().current();
    CHECK(&own != &record);
    for (int i = 0; i < 2; ++i) {
      const int backward = 0;
      begin_backward(own, &backward, operator_name(own, "AddmmBackward0"), {&record, 7});
      CHECK(end_event(own, &backward));
    }
    CHECK_EQUAL(counted_paths(own.store),
                (Lines{"2 main.py:1 main > aten::addmm > AddmmBackward0 (backward)"}));
  }).join();
}

struct Heard {
  std::vector<std::string> lines;
  ThreadRecord* record = nullptr;
};

void hear(const dctx_event* event, void* user) {
  auto& heard = *static_cast<Heard*>(user);
  const char* what = event->event == DCTX_BEGIN ? "begin "
                     : event->event == DCTX_END ? "end "
                                                : "step ";
  heard.lines.push_back(what + std::string(event->name) + " " + std::to_string(event->sequence));
  CHECK_EQUAL(event->size, sizeof(dctx_event));
  CHECK_EQUAL(event->duration_ns > 0, event->event == DCTX_END);
  // What a listener does is recorded, but not told; and it cannot take itself out.
  const Op op(*heard.record, "inside");
  CHECK_EQUAL(Listeners::instance().remove(0), static_cast<int>(Listeners::kInside));
}

void listeners_are_told_what_they_asked_for() {
  ThreadRecord& record = begin_recording();
  Listeners& listeners = Listeners::instance();
  Heard operators{{}, &record};
  Heard user{{}, &record};
  const int first = listeners.add(DCTX_DOMAIN_FRAMEWORK, DCTX_BEGIN | DCTX_END, hear, &operators);
  const int second = listeners.add(DCTX_DOMAIN_USER, DCTX_STEP | DCTX_END, hear, &user);
  const int scope = 0;
  begin_scope(record, &scope, scope_name(record, "Optimizer.step#SGD"));
  {
    const Op op(record, "aten::mm", 5);
  }
  CHECK(end_event(record, &scope));
  CHECK_EQUAL(operators.lines, (Lines{"begin Optimizer.step#SGD -1", "begin aten::mm 5",
                                      "end aten::mm -1", "end Optimizer.step#SGD -1"}));
  CHECK_EQUAL(user.lines, (Lines{"end Optimizer.step#SGD -1", "step Optimizer.step#SGD -1"}));
  CHECK_EQUAL(listeners.remove(first), 0);
  CHECK_EQUAL(listeners.remove(first), static_cast<int>(Listeners::kUnknown));
  CHECK_EQUAL(listeners.remove(second), 0);
  CHECK(!listeners.any());
}

}  // namespace

int main() {
  engine_state.python = FrameWalk<dctx_test::FakeFrames>::source();
  backward_hangs_from_its_forward_operator();
  backward_without_its_forward_operator_stays();
  backward_on_another_thread_makes_the_path_again();
  listeners_are_told_what_they_asked_for();
  return dctx_test::report();
}
