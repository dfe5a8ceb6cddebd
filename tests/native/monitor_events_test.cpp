// How events, scopes and Python frames interleave into one tree; ends.
#include "check.hpp"
#include "frame_stack.hpp"
#include "monitor/engine/context.hpp"
#include "monitor/engine/events.hpp"

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
const Code kModel{"model.py", "forward", 10};
const Code kHook{"hook.py", "hook", 20};
const Code kEnter{"torch/autograd/profiler.py", "__enter__", 700, ScopeRole::opens};
const Code kGenerator{"user.py", "timed", 30};
const Code kWrapper{"contextlib.py", "ContextDecorator.__call__.<locals>.inner", 78,
                    ScopeRole::wraps};
const Code kResume{"contextlib.py", "__enter__", 130, ScopeRole::enters};

void operators_hang_from_the_calling_line() {
  ThreadRecord& record = begin_recording();
  Call main(kMain, 1);
  for (int i = 0; i < 3; ++i) {
    main.at(2);
    const Op outer(record, "aten::linear");
    const Op inner(record, "aten::addmm");
  }
  main.at(3);
  {
    Call model(kModel, 11);
    const Op op(record, "aten::linear");
  }
  CHECK_EQUAL(counted_paths(record.store), (Lines{"3 main.py:2 main > aten::linear",
                                                  "3 main.py:2 main > aten::linear > aten::addmm",
                                                  "1 main.py:3 main > model.py:11 forward > "
                                                  "aten::linear"}));
}

void python_inside_an_operator_hangs_below_it() {
  ThreadRecord& record = begin_recording();
  Call main(kMain, 5);
  const Op outer(record, "MyFunction");
  {
    Call hook(kHook, 21);
    const Op inner(record, "aten::mul");
  }
  CHECK_EQUAL(counted_paths(record.store),
              (Lines{"1 main.py:5 main > MyFunction > hook.py:21 hook > aten::mul"}));
}

void a_scope_takes_in_the_rest_of_its_function() {
  ThreadRecord& record = begin_recording();
  Call main(kMain, 1);
  Call model(kModel, 11);
  const int scope = 0;
  {
    Call enter(kEnter, 702);
    begin_scope(record, &scope, scope_name(record, "step 17"));
  }
  model.at(12);
  {
    const Op op(record, "aten::mm");
  }
  {
    Call hook(kHook, 21);
    const Op op(record, "aten::mm");
  }
  CHECK(end_event(record, &scope));
  model.at(13);
  {
    const Op op(record, "aten::mm");
  }
  CHECK_EQUAL(
      counted_paths(record.store),
      (Lines{"1 main.py:1 main > model.py:11 forward > step #",
             "1 main.py:1 main > model.py:11 forward > step # > model.py:12 forward > aten::mm",
             "1 main.py:1 main > model.py:11 forward > step # > model.py:12 forward > hook.py:21 "
             "hook > aten::mm",
             "1 main.py:1 main > model.py:13 forward > aten::mm"}));
}

void a_scope_in_a_context_generator_belongs_to_the_with_statement() {
  ThreadRecord& record = begin_recording();
  Call main(kMain, 1);
  const int scope = 0;
  {
    Call resume(kResume, 137);
    Call generator(kGenerator, 31);
    Call enter(kEnter, 702);
    begin_scope(record, &scope, scope_name(record, "timed"));
  }
  main.at(2);
  {
    const Op op(record, "aten::mm");
  }
  CHECK(end_event(record, &scope));
  CHECK_EQUAL(
      counted_paths(record.store),
      (Lines{"1 main.py:1 main > timed", "1 main.py:1 main > timed > main.py:2 main > aten::mm"}));
  CHECK_EQUAL(registry().losses().get(Loss::detached), 0U);
}

void a_decorated_function_is_a_scope_of_its_caller() {
  ThreadRecord& record = begin_recording();
  Call main(kMain, 1);
  const int scope = 0;
  Call wrapper(kWrapper, 80);
  begin_scope(record, &scope, scope_name(record, "forward"));
  {
    Call model(kModel, 12);
    const Op op(record, "aten::mm");
  }
  CHECK(end_event(record, &scope));
  CHECK_EQUAL(counted_paths(record.store),
              (Lines{"1 main.py:1 main > forward",
                     "1 main.py:1 main > forward > main.py:1 main > model.py:12 forward > "
                     "aten::mm"}));
}

void scopes_that_overlap_end_in_any_order() {
  ThreadRecord& record = begin_recording();
  Call main(kMain, 1);
  const int first = 0;
  const int second = 0;
  begin_scope(record, &first, scope_name(record, "first"));
  main.at(2);
  begin_scope(record, &second, scope_name(record, "second"));
  CHECK(end_event(record, &first));
  main.at(3);
  {
    const Op op(record, "aten::mm");
  }
  CHECK(end_event(record, &second));
  main.at(4);
  {
    const Op op(record, "aten::mm");
  }
  CHECK_EQUAL(
      counted_paths(record.store),
      (Lines{"1 main.py:1 main > first", "1 main.py:1 main > first > main.py:2 main > second",
             "1 main.py:1 main > first > main.py:2 main > second > main.py:3 main > "
             "aten::mm",
             "1 main.py:4 main > aten::mm"}));
  CHECK(record.open.empty());
  CHECK_EQUAL(registry().losses().get(Loss::late_ends), 0U);
}

// A scope that a helper opened for its caller, which is gone: a frame at the same address is only
// taken for it where nothing can be told apart.
void addresses_of_frames_are_used_again() {
  ThreadRecord& record = begin_recording();
  const int scope = 0;
  const void* caller = nullptr;
  const auto call = [&](int line, const Code& code) {
    Call main(kMain, line);
    Call again(code, 11);
    CHECK(dctx_test::FakeFrames::leaf() == caller);
    const Op op(record, "aten::mm");
  };
  {
    Call main(kMain, 1);
    Call model(kModel, 11);
    caller = dctx_test::FakeFrames::leaf();
    {
      Call helper(kHook, 21);
      begin_scope(record, &scope, scope_name(record, "held"));
    }
    model.at(12);
    const Op op(record, "aten::mm");
  }
  call(1, kModel);
  CHECK_EQUAL(registry().losses().get(Loss::detached), 0U);
  call(2, kModel);
  call(1, kHook);
  CHECK_EQUAL(registry().losses().get(Loss::detached), 2U);
  CHECK(end_event(record, &scope));
  CHECK_EQUAL(counted_paths(record.store),
              (Lines{"1 main.py:1 main > model.py:11 forward > hook.py:21 hook > held",
                     "2 main.py:1 main > model.py:11 forward > hook.py:21 hook > held > aten::mm",
                     "1 main.py:2 main > model.py:11 forward > aten::mm",
                     "1 main.py:1 main > hook.py:11 hook > aten::mm"}));
}

void a_scope_of_a_frame_that_is_gone_is_detached() {
  ThreadRecord& record = begin_recording();
  const int scope = 0;
  {
    Call main(kMain, 1);
    Call caller(kModel, 11);
    Call generator(kHook, 21);
    begin_scope(record, &scope, scope_name(record, "held"));
  }
  {
    Call main(kMain, 9);
    const Op op(record, "aten::mm");
  }
  CHECK_EQUAL(registry().losses().get(Loss::detached), 1U);
  CHECK(end_event(record, &scope));
  CHECK_EQUAL(counted_paths(record.store),
              (Lines{"1 main.py:1 main > model.py:11 forward > hook.py:21 hook > held",
                     "1 main.py:9 main > aten::mm"}));
}

void deep_stacks_keep_their_inner_frames() {
  ThreadRecord& record = begin_recording();
  std::deque<Call> calls;
  for (int i = 0; i < 1024; ++i) calls.emplace_back(kMain, i);
  {
    const Op op(record, "whole");
  }
  CHECK_EQUAL(record.store.node_count(), 1U + 1024U + 1U);
  calls.emplace_back(kModel, 1024);
  {
    const Op op(record, "cut");
  }
  CHECK_EQUAL(registry().losses().get(Loss::elided), 1U);
  uint32_t node = record.store.node_count() - 1;
  int depth = 0;
  for (node = record.store.parent(node); record.store.kind(node) == NodeKind::python; ++depth) {
    CHECK_EQUAL(record.store.view(node).line, 1024 - depth);
    node = record.store.parent(node);
  }
  CHECK_EQUAL(depth, 512);
  CHECK(record.store.kind(node) == NodeKind::elided);
  CHECK_EQUAL(record.store.parent(node), 0U);
  while (!calls.empty()) calls.pop_back();  // innermost first
}

void ends_without_a_begin_are_counted() {
  ThreadRecord& record = begin_recording();
  const int event = 0;
  CHECK(!end_event(record, &event));
  CHECK_EQUAL(registry().losses().get(Loss::late_ends), 1U);
  begin_operator(record, &event, operator_name(record, "old"), -1);
  registry().stop();
  registry().start({});
  CHECK(registry().current_if_any() == nullptr);
  CHECK(registry().current() == &record);  // the tree goes on, the open event is forgotten
  CHECK(!end_event(record, &event));
  CHECK_EQUAL(counted_paths(record.store), Lines{});
}

void self_times_sum_up_to_the_top_level() {
  ThreadRecord& record = begin_recording();
  Call main(kMain, 1);
  for (int i = 0; i < 100; ++i) {
    const Op outer(record, "outer");
    const Op middle(record, "middle");
    {
      const Op inner(record, "inner");
    }
    {
      const Op inner(record, "inner");
    }
  }
  int64_t self_ns = 0;
  for (uint32_t node = 0; node < record.store.node_count(); ++node) {
    self_ns += record.store.metrics(node).self_ns;
  }
  CHECK_EQUAL(self_ns, record.store.top_level_ns());
  CHECK_EQUAL(registry().losses().get(Loss::clamped_self), 0U);
}

void a_child_process_begins_empty() {
  ThreadRecord& record = begin_recording();
  {
    const Op op(record, "parent's");
  }
  const uint32_t strings = registry().strings().size();
  registry().before_fork();
  registry().reset_after_fork();
  CHECK(registry().threads().empty());
  ThreadRecord& own = *registry().current();
  CHECK_EQUAL(registry().threads().size(), 1U);
  CHECK_EQUAL(own.store.node_count(), 1U);
  CHECK(registry().strings().size() >= strings);
}

void the_context_is_the_innermost_path() {
  ThreadRecord& record = begin_recording();
  Call main(kMain, 1);
  const Op op(record, "aten::mm");
  PackedContext context = context_now(kPython | kFramework);
  CHECK_EQUAL(context.thread(), record.index);
  CHECK_EQUAL(dctx_test::path_text(record.store, static_cast<uint32_t>(context.node())),
              "main.py:1 main > aten::mm");
  Call launcher(kHook, 22);
  context = context_now(kPython | kFramework);
  CHECK_EQUAL(dctx_test::path_text(record.store, static_cast<uint32_t>(context.node())),
              "main.py:1 main > aten::mm > hook.py:22 hook");
  registry().stop();
  CHECK(!context_now(kPython).known());
}

void known_code_is_not_described_again() {
  ThreadRecord& record = begin_recording();
  Call main(kMain, 1);
  {
    const Op op(record, "aten::mm");
  }
  dctx_test::described = 0;
  for (int line = 2; line < 50; ++line) {
    main.at(line);
    const Op op(record, "aten::mm");
  }
  CHECK_EQUAL(dctx_test::described, 0);
}

// While no code object ends, places tell paths; afterwards code is compared again.
void code_at_an_address_used_again_is_another() {
  ThreadRecord& record = begin_recording();
  dctx_test::code_age_told = 1;
  Code code{"one.py", "f", 1};
  Call main(kMain, 1);
  Call call(code, 5);
  const auto run = [&] { const Op op(record, "aten::mm"); };
  run();
  dctx_test::fingerprints = 0;
  run();
  CHECK_EQUAL(dctx_test::fingerprints, 0);
  code = {"two.py", "g", 2};  // the other one has ended
  dctx_test::code_age_told = 2;
  run();
  CHECK(dctx_test::fingerprints > 0);
  code = {"one.py", "f", 1};
  dctx_test::code_age_told = 3;
  run();
  call.at(6);
  run();
  dctx_test::code_age_told = 0;  // not known: the same by looking each time
  run();
  CHECK_EQUAL(counted_paths(record.store), (Lines{"3 main.py:1 main > one.py:5 f > aten::mm",
                                                  "1 main.py:1 main > two.py:5 g > aten::mm",
                                                  "2 main.py:1 main > one.py:6 f > aten::mm"}));
}

}  // namespace

int main() {
  engine_state.python = FrameWalk<dctx_test::FakeFrames>::source();
  operators_hang_from_the_calling_line();
  python_inside_an_operator_hangs_below_it();
  a_scope_takes_in_the_rest_of_its_function();
  a_scope_in_a_context_generator_belongs_to_the_with_statement();
  a_decorated_function_is_a_scope_of_its_caller();
  scopes_that_overlap_end_in_any_order();
  a_scope_of_a_frame_that_is_gone_is_detached();
  addresses_of_frames_are_used_again();
  deep_stacks_keep_their_inner_frames();
  ends_without_a_begin_are_counted();
  self_times_sum_up_to_the_top_level();
  a_child_process_begins_empty();
  the_context_is_the_innermost_path();
  known_code_is_not_described_again();
  code_at_an_address_used_again_is_another();
  return dctx_test::report();
}
