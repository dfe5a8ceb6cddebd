// The engine's parts one by one: nodes, the cap on them, texts, the ring, steps, the clock.
#include <string>
#include <vector>

#include "check.hpp"
#include "monitor/engine/caches.hpp"
#include "monitor/engine/clock.hpp"
#include "monitor/engine/context.hpp"
#include "monitor/engine/forward_ring.hpp"
#include "monitor/engine/intern.hpp"
#include "monitor/engine/step_log.hpp"
#include "monitor/engine/thread_store.hpp"
#include "monitor/gpu/busy_time.hpp"

using namespace dctx::monitor;

namespace {

void nodes_have_one_identity() {
  NodeBudget budget;
  LossCounters losses;
  ThreadStore store(budget, losses, 7);
  CHECK_EQUAL(store.node_count(), 1U);
  CHECK(store.view(0).kind == NodeKind::thread);
  CHECK_EQUAL(store.view(0).label, 7U);
  const uint32_t a = store.child(0, NodeKind::op, 1, 0);
  CHECK_EQUAL(store.child(0, NodeKind::op, 1, 0), a);
  CHECK(store.child(0, NodeKind::scope, 1, 0) != a);
  CHECK(store.child(0, NodeKind::op, 2, 0) != a);
  CHECK(store.child(0, NodeKind::op, 1, 1) != a);
  const uint32_t b = store.child(a, NodeKind::op, 1, 0, a);
  CHECK_EQUAL(store.view(b).parent, a);
  CHECK_EQUAL(store.view(b).alternate, a);
  // Over many chunks and growths, every node is found again.
  std::vector<uint32_t> ids;
  for (uint64_t label = 0; label < 20'000; ++label) {
    ids.push_back(store.child(b, NodeKind::kernel, label << 40, -1));
  }
  for (uint64_t label = 0; label < 20'000; ++label) {
    CHECK_EQUAL(store.child(b, NodeKind::kernel, label << 40, -1), ids[label]);
  }
  CHECK_EQUAL(budget.used.load(), store.node_count());
}

void metrics_are_exact() {
  NodeBudget budget;
  LossCounters losses;
  ThreadStore store(budget, losses, 0);
  const uint32_t node = store.child(0, NodeKind::op, 1, 0);
  CHECK_EQUAL(store.metrics(node).count, 0U);
  store.add(node, 30, 10);
  store.add(node, 20, 20);
  store.add(node, 70, 0);
  store.add_host_gap(node, 5);
  store.add_usage(node, 11, 2);
  const MetricView m = store.metrics(node);
  CHECK_EQUAL(m.count, 3U);
  CHECK_EQUAL(m.sum_ns, 120);
  CHECK_EQUAL(m.self_ns, 30);
  CHECK_EQUAL(m.min_ns, 20);
  CHECK_EQUAL(m.max_ns, 70);
  CHECK_EQUAL(m.sum_sq, 900.0 + 400.0 + 4900.0);
  CHECK_EQUAL(m.host_gap_ns, 5);
  CHECK_EQUAL(m.cpu_ns, 11);
  CHECK_EQUAL(m.faults, 2);
  // A Python function has no events: the longest of its gaps is kept.
  const uint32_t function = store.child(0, NodeKind::python, 2, 7);
  store.add_host_gap(function, ThreadStore::kLongGapNs - 1);
  CHECK_EQUAL(store.metrics(function).max_ns, 0);
  for (const int64_t gap_ns : {2'000'000, 7'000'000, 3'000'000}) {
    store.add_host_gap(function, gap_ns);
    store.add_host_gap(node, gap_ns);
  }
  CHECK_EQUAL(store.metrics(function).max_ns, 7'000'000);
  CHECK_EQUAL(store.metrics(function).count, 0U);
  CHECK_EQUAL(store.metrics(node).max_ns, 70);
}

// What asking costs would be a part of what is measured.
void usage_of_brief_scopes_is_not_kept() {
  NodeBudget budget;
  LossCounters losses;
  ThreadStore store(budget, losses, 7);
  const uint32_t brief = store.child(0, NodeKind::scope, 1, 0);
  const uint32_t lasting = store.child(0, NodeKind::scope, 2, 0);
  const auto end = [&](uint32_t node, int64_t duration_ns) {
    store.add(node, duration_ns, duration_ns);
    store.add_usage(node, 10, 1);
  };
  for (uint64_t i = 0; i + 1 < ThreadStore::kBriefEvents; ++i) {
    end(brief, ThreadStore::kBriefNs - 1);
    end(lasting, ThreadStore::kBriefNs);
  }
  CHECK(!store.brief(brief));
  CHECK_EQUAL(store.metrics(brief).cpu_ns, 150);
  end(brief, ThreadStore::kBriefNs - 1);
  end(lasting, ThreadStore::kBriefNs);
  CHECK(store.brief(brief));
  CHECK(!store.brief(lasting));
  end(brief, ThreadStore::kBriefNs * 1000);  // it had begun before that was known
  CHECK_EQUAL(store.metrics(brief).cpu_ns, 0);
  CHECK_EQUAL(store.metrics(brief).faults, 0);
  CHECK_EQUAL(store.metrics(lasting).cpu_ns, 160);
  CHECK_EQUAL(store.metrics(lasting).faults, 16);
}

void contexts_beyond_the_cap_are_folded() {
  NodeBudget budget;
  budget.limit = 3;
  LossCounters losses;
  ThreadStore store(budget, losses, 0);
  const uint32_t a = store.child(0, NodeKind::op, 1, 0);
  const uint32_t b = store.child(a, NodeKind::op, 2, 0);
  const uint32_t other = store.child(a, NodeKind::op, 3, 0);
  CHECK(store.kind(other) == NodeKind::other);
  CHECK_EQUAL(store.parent(other), a);
  CHECK_EQUAL(store.child(a, NodeKind::op, 4, 0), other);
  CHECK_EQUAL(store.child(other, NodeKind::python, 4, 9), other);  // no [other] below [other]
  CHECK_EQUAL(store.child(a, NodeKind::op, 2, 0), b);              // known ones stay themselves
  CHECK_EQUAL(losses.get(Loss::folded), 2U);
}

// A program that never does the same twice.
void a_million_contexts_take_the_memory_of_few() {
  constexpr uint32_t kContexts = 1'000'000;
  constexpr uint32_t kLimit = 1'000;
  NodeBudget budget;
  budget.limit = kLimit;
  LossCounters losses;
  ThreadStore store(budget, losses, 7);
  for (uint32_t i = 0; i < kContexts; ++i) {
    store.add(store.child(i % 3, NodeKind::op, 100 + i, 0), 1, 1);
  }
  // Beyond the limit there is one [other] for each of the three parents.
  CHECK_EQUAL(store.node_count(), kLimit + 3);
  CHECK_EQUAL(budget.used.load(), uint64_t{kLimit} + 3);
  CHECK_EQUAL(losses.get(Loss::folded), uint64_t{kContexts} - (kLimit - 1));
  uint64_t events = 0;
  uint64_t others = 0;
  for (uint32_t node = 0; node < store.node_count(); ++node) {
    events += store.metrics(node).count;
    if (store.view(node).kind == NodeKind::other) others += store.metrics(node).count;
  }
  CHECK_EQUAL(events, uint64_t{kContexts});
  CHECK_EQUAL(others, losses.get(Loss::folded));
}

void texts_have_dense_ids() {
  StringTable strings;
  CHECK_EQUAL(strings.intern(""), 0U);
  const uint32_t a = strings.intern("aten::mm");
  CHECK_EQUAL(strings.intern(std::string("aten::") + "mm"), a);
  CHECK_EQUAL(std::string(strings.text(a)), "aten::mm");
  CHECK_EQUAL(strings.size(), 2U);
  CodeTable codes;
  const uint32_t f = codes.intern({a, 0, 1, ScopeRole::none});
  CHECK_EQUAL(codes.intern({a, 0, 1, ScopeRole::none}), f);
  CHECK(codes.intern({a, 0, 2, ScopeRole::none}) != f);
  ModuleTable modules;
  const uint32_t lib = modules.intern({a, 0, 4096, 8192});
  CHECK_EQUAL(modules.intern({a, 0, 4096, 8192}), lib);
  CHECK(modules.intern({a, 0, 8192, 9000}) != lib);
}

void names_are_compared_in_full() {
  NameCache names;
  StringTable strings;
  int misses = 0;
  const auto find = [&](const char* name) {
    return names
        .find(name,
              [&](std::string_view text, std::string_view* kept) {
                ++misses;
                const uint32_t id = strings.intern(text);
                *kept = strings.text(id);
                return EventName{id, false, false};
              })
        .label;
  };
  char buffer[16] = "first";
  const uint32_t first = find(buffer);
  CHECK_EQUAL(find(buffer), first);
  CHECK_EQUAL(misses, 1);
  std::strcpy(buffer, "firs");  // the same address, another text
  CHECK(find(buffer) != first);
  CHECK_EQUAL(find(nullptr), 0U);
  // Long names and temporaries, found by their text, wherever it lies.
  const std::string common(60, 'x');
  std::vector<uint32_t> ids;
  for (int i = 0; i < 300; ++i) ids.push_back(find((common + std::to_string(i)).c_str()));
  const int after = misses;
  for (int i = 0; i < 300; ++i) {
    const std::string name = common + std::to_string(i);
    CHECK_EQUAL(find(name.c_str()), ids[static_cast<size_t>(i)]);
    CHECK_EQUAL(std::string(strings.text(ids[static_cast<size_t>(i)])), name);
  }
  CHECK_EQUAL(misses, after);
}

void paths_are_told_apart_and_flushed() {
  PathCache paths;
  const int codes[2] = {};
  paths.insert(42, 3, &codes[0], 7);
  CHECK_EQUAL(paths.find(42, 3, &codes[0]), 7U);
  CHECK_EQUAL(paths.find(42, 4, &codes[0]), kNoNode);
  CHECK_EQUAL(paths.find(42, 3, &codes[1]), kNoNode);
  for (uint32_t i = 0; i < PathCache::kMaxEntries; ++i) paths.insert(1000 + i, 1, nullptr, i);
  CHECK_EQUAL(paths.find(42, 3, &codes[0]), kNoNode);  // flushed, to be made again
  CHECK_EQUAL(paths.find(1000 + PathCache::kMaxEntries - 1, 1, nullptr),
              PathCache::kMaxEntries - 1);
}

void the_ring_keeps_the_newest() {
  ForwardRing ring;
  uint32_t node = 0;
  CHECK(!ring.find(0, &node));
  ring.store(0, 5);
  CHECK(ring.find(0, &node));
  CHECK_EQUAL(node, 5U);
  ring.store(0, 6);
  CHECK(ring.find(0, &node));
  CHECK_EQUAL(node, 6U);
  ring.store(ForwardRing::kSlots, 8);
  CHECK(!ring.find(0, &node));
  CHECK(ring.find(ForwardRing::kSlots, &node));
  CHECK_EQUAL(node, 8U);
  ring.change_owner();
  CHECK(!ring.find(ForwardRing::kSlots, &node));
  ring.store(ForwardRing::kSlots, 9);
  CHECK(ring.find(ForwardRing::kSlots, &node));
  CHECK_EQUAL(node, 9U);
  // Numbers that share a slot, the largest that the hooks let through among them.
  const uint64_t highest = (uint64_t{1} << 48) - 1;
  ring.store(highest, kNoNode - 1);
  CHECK(ring.find(highest, &node));
  CHECK_EQUAL(node, kNoNode - 1);
  for (unsigned bit = 16; bit < 48; ++bit) CHECK(!ring.find(highest ^ uint64_t{1} << bit, &node));
}

void steps_are_merged_pairwise() {
  StepLog steps;
  steps.begin({1000});
  const uint64_t count = StepLog::kMaxSpans * 3;
  for (uint64_t i = 1; i <= count; ++i) steps.mark({1000 + static_cast<int64_t>(i) * 10});
  const std::vector<StepSpan> spans = steps.spans();
  CHECK(spans.size() <= StepLog::kMaxSpans);
  uint64_t next = 0;
  int64_t begin_ns = 1000;
  for (const StepSpan& span : spans) {
    CHECK_EQUAL(span.first, next);
    CHECK_EQUAL(span.begin_ns, begin_ns);
    CHECK_EQUAL(span.end_ns - span.begin_ns, static_cast<int64_t>(span.count) * 10);
    CHECK_EQUAL(span.longest_ns, 10);
    next += span.count;
    begin_ns = span.end_ns;
  }
  CHECK_EQUAL(next, count);
  CHECK_EQUAL(steps.count(), count);
}

// A step from 1000 to 1010 and one from 1010 to 1030; the next one runs. A pause is in no step.
void work_of_devices_is_of_the_steps_in_which_it_ran() {
  StepLog steps;
  steps.begin({1000});
  steps.mark({1010});
  steps.add_busy(995, 1004);   // from before the first one
  steps.add_busy(1020, 1025);  // of the one that runs
  steps.add_copied(1022, 7);
  steps.mark({1030});
  steps.add_busy(1008, 1040);  // late, over both and into the third
  steps.add_copied(1005, 64);
  steps.add_copied(990, 1);  // before all of them
  std::vector<StepSpan> spans = steps.spans();
  CHECK_EQUAL(spans.size(), 2U);
  CHECK_EQUAL(spans[0].gpu_busy_ns, 4 + 2);
  CHECK_EQUAL(spans[0].copied_bytes, 64U);
  CHECK_EQUAL(spans[1].gpu_busy_ns, 5 + 20);
  CHECK_EQUAL(spans[1].copied_bytes, 7U);
  steps.mark_by_program({1050});  // it alone ends steps: the first one reaches back
  spans = steps.spans();
  CHECK_EQUAL(spans.size(), 1U);
  CHECK_EQUAL(spans[0].gpu_busy_ns, 4 + 2 + 5 + 20 + 10);
  CHECK_EQUAL(spans[0].copied_bytes, 71U);
  steps.add_busy(1050, 1060);
  steps.resume({1100});
  steps.add_busy(1095, 1103);
  steps.mark_by_program({1110});
  spans = steps.spans();
  CHECK_EQUAL(spans[1].gpu_busy_ns, 3);
  spans[0].merge(spans[1]);
  CHECK_EQUAL(spans[0].gpu_busy_ns, 44);
}

void the_most_memory_in_use_is_that_of_one_device() {
  StepLog steps;
  steps.begin({1000});
  steps.memory_in_use(0, 100);
  steps.memory_in_use(1, 300);
  steps.memory_in_use(1, 50);
  steps.memory_in_use(-1, 900);  // no device
  steps.mark({1010});
  steps.memory_in_use(0, 60);
  steps.mark({1020});
  steps.mark({1030});
  std::vector<StepSpan> spans = steps.spans();
  CHECK_EQUAL(spans[0].device_peak_bytes, 300);
  CHECK_EQUAL(spans[1].device_peak_bytes, 100);  // what was in use when it began
  CHECK_EQUAL(spans[2].device_peak_bytes, 60);
  spans[2].merge(spans[1]);
  CHECK_EQUAL(spans[2].device_peak_bytes, 100);
  steps.begin({2000});
  steps.mark({2010});
  CHECK_EQUAL(steps.spans()[0].device_peak_bytes, 0);
}

void busy_time_is_the_union_of_work() {
  gpu::BusyTime busy;
  std::vector<int64_t> told;
  const auto add = [&](int64_t begin_ns, int64_t end_ns) {
    int64_t sum_ns = 0;
    busy.add(begin_ns, end_ns, [&](int64_t from_ns, int64_t to_ns) { sum_ns += to_ns - from_ns; });
    told.push_back(sum_ns);
  };
  add(100, 200);
  add(150, 250);  // overlaps
  add(120, 130);  // inside
  add(300, 400);
  add(50, 350);  // late, over all of them
  add(400, 410);
  add(410, 405);  // ends before it begins
  CHECK((told == std::vector<int64_t>{100, 50, 0, 100, 100, 10, 0}));
  // Whatever the order, as long as no record is later than what is kept, it is the union.
  gpu::BusyTime long_run;
  int64_t total_ns = 0;
  const auto sum = [&](int64_t from_ns, int64_t to_ns) { total_ns += to_ns - from_ns; };
  constexpr int64_t kPieces = 3 * static_cast<int64_t>(gpu::BusyTime::kMaxParts);
  for (int64_t i = 0; i < kPieces; ++i) {
    const int64_t swapped = i ^ 1;  // neighbours come in the wrong order, and each comes twice
    long_run.add(swapped * 10, swapped * 10 + 4, sum);
    long_run.add(swapped * 10 + 2, swapped * 10 + 6, sum);
  }
  CHECK_EQUAL(total_ns, kPieces * 6);
  long_run.add(0, 10, sum);  // so late that nothing is known of it any more
  CHECK_EQUAL(total_ns, kPieces * 6);
}

void the_clock_follows_the_system() {
  Clock::calibrate();
  const int64_t before = monotonic_ns();
  const int64_t now = Clock::now_ns();
  const int64_t after = monotonic_ns();
  // 20 ms of calibration bound the error of the rate; the clock began a moment ago.
  CHECK(now > before - 1'000'000 && now < after + 1'000'000);
  CHECK(thread_usage().faults > 0);
  const int64_t used_ns = thread_usage().cpu_ns;
  while (monotonic_ns() < after + 5'000'000) {
  }
  CHECK(thread_usage().cpu_ns > used_ns);
}

void contexts_are_packed() {
  const PackedContext context = PackedContext::of(65'534, 300, 4'000'000'000U);
  CHECK_EQUAL(context.thread(), 65'534U);
  CHECK_EQUAL(context.epoch(), 300U & 0xffU);
  CHECK_EQUAL(context.node(), 4'000'000'000U);
  CHECK(context.known());
}

}  // namespace

int main() {
  nodes_have_one_identity();
  metrics_are_exact();
  usage_of_brief_scopes_is_not_kept();
  contexts_beyond_the_cap_are_folded();
  a_million_contexts_take_the_memory_of_few();
  texts_have_dense_ids();
  names_are_compared_in_full();
  paths_are_told_apart_and_flushed();
  the_ring_keeps_the_newest();
  steps_are_merged_pairwise();
  work_of_devices_is_of_the_steps_in_which_it_ran();
  the_most_memory_in_use_is_that_of_one_device();
  busy_time_is_the_union_of_work();
  the_clock_follows_the_system();
  contexts_are_packed();
  return dctx_test::report();
}
