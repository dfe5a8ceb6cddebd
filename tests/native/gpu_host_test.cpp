// Work of devices: from the calls that launch it and the records that tell it to sums by context.
#include "monitor/gpu/gpu_host.hpp"

#include <memory>
#include <string>

#include "check.hpp"
#include "monitor/engine/context.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/engine/listeners.hpp"

using namespace dctx::monitor;
using namespace dctx::monitor::gpu;

namespace {

GpuHost& gpu() { return GpuHost::instance(); }
const Host& host() { return *gpu().host(); }

ThreadRecord& begin() {
  Registry& registry = Registry::instance();
  registry.stop();
  registry.clear();
  gpu().clear();
  registry.start({});
  return *registry.current();
}

uint64_t call(ApiSite site, uint64_t correlation, const char* name = "cudaLaunchKernel") {
  ApiCall told;
  told.site = site;
  told.kind = ApiKind::launch;
  told.name = name;
  told.correlation = correlation;
  return host().on_api(told);
}

uint64_t launch(uint64_t correlation, const char* name = "cudaLaunchKernel") {
  const uint64_t context = call(ApiSite::enter, correlation, name);
  call(ApiSite::leave, correlation, name);
  return context;
}

WorkRecord work(const char* name, uint64_t correlation, int64_t ns) {
  WorkRecord record;
  record.name = name;
  record.correlation = correlation;
  record.begin_ns = 1000;
  record.end_ns = 1000 + ns;
  return record;
}

void deliver(const WorkRecord& record) { host().on_records(&record, 1); }

std::vector<WorkRow> rows() {
  std::vector<uint64_t> seen;
  return gpu().table().changed(seen);
}

std::string text(uint64_t id) {
  return std::string(Registry::instance().strings().text(static_cast<uint32_t>(id)));
}

void the_ring_keeps_the_newest_launches() {
  ContextRing ring;
  uint64_t context = 0;
  CHECK(!ring.find(5, &context));
  ring.store(5, 50);  // nothing is reserved yet
  CHECK(!ring.find(5, &context));
  CHECK(ring.reserve());
  ring.store(5, 50);
  CHECK(ring.find(5, &context));
  CHECK_EQUAL(context, 50U);
  CHECK(!ring.find(6, &context));
  ring.store(5 + ContextRing::kSlots, 51);  // the same slot
  CHECK(!ring.find(5, &context));
  CHECK(ring.find(5 + ContextRing::kSlots, &context));
  CHECK_EQUAL(context, 51U);
}

void sums_are_those_of_the_records() {
  WorkTable table;
  const WorkKey key{7, kNoContext, 0, 3, 0, WorkKind::kernel};
  WorkRecord first = work("k", 1, 100);
  first.grid[0] = 8;
  first.block[0] = 128;
  first.registers = 32;
  first.shared_bytes = 1024;
  first.bytes = 5;
  WorkRecord second = work("k", 2, 300);
  second.grid[0] = 9;
  second.bytes = 6;
  CHECK(!table.add(key, first, 10));
  CHECK(!table.add(key, second, 10));
  CHECK(!table.add(key, work("k", 3, -20), 10));  // a clock that stepped back
  std::vector<uint64_t> seen;
  const std::vector<WorkRow> all = table.changed(seen);
  CHECK_EQUAL(all.size(), 1U);
  const WorkSums& sums = all[0].sums;
  CHECK_EQUAL(sums.count, 3U);
  CHECK_EQUAL(sums.sum_ns, 400);
  CHECK_EQUAL(sums.min_ns, 0);
  CHECK_EQUAL(sums.max_ns, 300);
  CHECK_EQUAL(sums.sum_sq, 100.0 * 100 + 300.0 * 300);
  CHECK_EQUAL(sums.bytes, 11U);
  CHECK_EQUAL(sums.grid[0], 8U);
  CHECK_EQUAL(sums.block[0], 128U);
  CHECK_EQUAL(sums.registers, 32U);
  CHECK_EQUAL(sums.shared_bytes, 1024U);
  CHECK_EQUAL(table.changed(seen).size(), 0U);
  table.add(key, first, 10);
  CHECK_EQUAL(table.changed(seen).size(), 1U);
}

void rows_beyond_the_limit_are_folded() {
  WorkTable table;
  for (uint32_t name = 1; name <= 5; ++name) {
    const bool folded =
        table.add({7, kNoContext, 0, name, 0, WorkKind::kernel}, work("", 1, 10), 2);
    CHECK_EQUAL(folded, name > 2);
  }
  CHECK(table.add({7, 8, 9, 6, 0, WorkKind::kernel}, work("", 1, 10), 2));
  CHECK_EQUAL(table.size(), 3U);  // two of their own, one of all others
  CHECK_EQUAL(table.records(), 6U);
}

void a_launch_hangs_from_the_operator_and_its_work_from_it() {
  ThreadRecord& record = begin();
  const int op = 0;
  begin_operator(record, &op, operator_name(record, "aten::mm"), -1);
  const uint64_t context = launch(11);
  end_event(record, &op);
  const PackedContext packed{context};
  const NodeView node = record.store.view(static_cast<uint32_t>(packed.node()));
  CHECK(node.kind == NodeKind::api);
  CHECK_EQUAL(text(node.label), "cudaLaunchKernel");
  CHECK_EQUAL(text(record.store.view(node.parent).label), "aten::mm");
  CHECK_EQUAL(record.store.metrics(static_cast<uint32_t>(packed.node())).count, 1U);
  deliver(work("_ZN2at6native4gemmIfEEvi", 11, 70));
  deliver(work("_ZN2at6native4gemmIfEEvi", 11, 30));
  const std::vector<WorkRow> all = rows();
  CHECK_EQUAL(all.size(), 1U);
  CHECK_EQUAL(all[0].key.context, context);
  CHECK_EQUAL(text(all[0].key.name), "void at::native::gemm<float>(int)");
  CHECK_EQUAL(all[0].sums.sum_ns, 100);
  CHECK_EQUAL(gpu().counts().placed, 2U);
}

void nested_calls_count_once_and_share_their_context() {
  ThreadRecord& record = begin();
  const uint64_t outer = call(ApiSite::enter, 21);
  const uint64_t inner = call(ApiSite::enter, 22, "cuLaunchKernel");
  CHECK_EQUAL(inner, outer);
  call(ApiSite::leave, 22, "cuLaunchKernel");
  CHECK_EQUAL(record.open.size(), 1U);
  call(ApiSite::leave, 21);
  CHECK(record.open.empty());
  CHECK_EQUAL(record.store.node_count(), 2U);
  deliver(work("k", 21, 10));
  deliver(work("k", 22, 10));
  CHECK_EQUAL(rows().size(), 1U);
  CHECK_EQUAL(gpu().counts().orphans, 0U);
  call(ApiSite::leave, 21);  // of a call that began before the callbacks did
  CHECK_EQUAL(Registry::instance().losses().get(Loss::late_ends), 0U);
}

void what_was_launched_unseen_is_an_orphan() {
  begin();
  deliver(work("k", 31, 10));
  deliver(work("k", 0, 10));
  CHECK_EQUAL(gpu().counts().orphans, 2U);
  CHECK_EQUAL(Registry::instance().losses().get(Loss::orphans), 2U);
  CHECK_EQUAL(rows().size(), 1U);
  CHECK_EQUAL(rows()[0].key.context, kNoContext);
  host().on_dropped(4);
  CHECK_EQUAL(Registry::instance().losses().get(Loss::drops), 4U);
}

void work_of_a_pause_is_no_loss() {
  begin();
  Registry& registry = Registry::instance();
  launch(41);
  registry.stop();
  CHECK_EQUAL(launch(42), kNoContext);
  const uint64_t half = call(ApiSite::enter, 43);
  CHECK_EQUAL(half, kNoContext);
  registry.start({});
  call(ApiSite::leave, 43);
  launch(44);
  for (uint64_t correlation = 41; correlation <= 44; ++correlation) {
    deliver(work("k", correlation, 10));
  }
  const WorkCounts counts = gpu().counts();
  CHECK_EQUAL(counts.records, 4U);
  CHECK_EQUAL(counts.placed, 2U);
  CHECK_EQUAL(counts.outside, 2U);
  CHECK_EQUAL(counts.orphans, 0U);
  CHECK_EQUAL(registry.losses().get(Loss::late_ends), 0U);
}

void contexts_of_an_earlier_recording_are_not_used() {
  begin();
  const uint64_t old = launch(51);
  begin();
  deliver(work("k", 51, 10));
  WorkRecord record = work("k", 0, 10);
  record.context = old;
  deliver(record);
  CHECK_EQUAL(gpu().counts().orphans, 2U);
}

WorkRecord in_graph(uint64_t correlation, uint64_t node) {
  WorkRecord record = work("k", correlation, 10);
  record.graph_node = node;
  record.graph = 77;
  return record;
}

void work_of_a_graph_hangs_from_where_it_was_captured() {
  begin();
  const uint64_t captured = call(ApiSite::enter, 61);
  host().on_graph_node(1001, 0, 500);
  call(ApiSite::leave, 61);
  host().on_graph_node(2001, 1001, 501);  // the executable copy
  host().on_graph_node(2002, 1002, 501);  // of a node that was not seen
  const uint64_t replay = launch(62, "cudaGraphLaunch");
  CHECK(replay != captured);
  deliver(in_graph(62, 2001));
  deliver(in_graph(62, 2002));
  const std::vector<WorkRow> all = rows();
  CHECK_EQUAL(all.size(), 2U);
  CHECK_EQUAL(all[0].key.context, captured);
  CHECK_EQUAL(all[0].key.alternate, replay);
  CHECK_EQUAL(all[0].key.graph, 0U);
  CHECK_EQUAL(all[1].key.context, replay);
  CHECK_EQUAL(all[1].key.alternate, kNoContext);
  CHECK_EQUAL(all[1].key.graph, 77U);
  host().on_graph_gone(501);
  gpu().graphs().flushed();
  deliver(in_graph(62, 2001));  // it was still running
  CHECK_EQUAL(rows()[0].sums.count, 2U);
  gpu().graphs().flushed();
  CHECK_EQUAL(gpu().graphs().size(), 1U);
  host().on_graph_node_gone(1001);
  gpu().graphs().flushed();
  host().on_graph_node(1001, 0, 502);  // the number is used again
  gpu().graphs().flushed();
  CHECK_EQUAL(gpu().graphs().size(), 1U);
}

void listeners_are_told_of_calls_and_work() {
  ThreadRecord& record = begin();
  std::vector<dctx_event> told;
  const auto listen = [](const dctx_event* event, void* user) {
    static_cast<std::vector<dctx_event>*>(user)->push_back(*event);
  };
  const uint32_t ends = DCTX_BEGIN | DCTX_END;
  const int handle = Listeners::instance().add(DCTX_DOMAIN_GPU, ends, listen, &told);
  const int other = Listeners::instance().add(DCTX_DOMAIN_FRAMEWORK, ends, listen, &told);
  const uint64_t context = launch(71);
  WorkRecord done = work("gemm", 71, 30);
  done.device = 2;
  done.registers = 64;
  deliver(done);
  Listeners::instance().remove(handle);
  Listeners::instance().remove(other);
  CHECK_EQUAL(told.size(), 3U);
  if (told.size() != 3) return;
  CHECK_EQUAL(told[0].event, uint32_t{DCTX_BEGIN});
  CHECK_EQUAL(told[0].kind, static_cast<uint32_t>(NodeKind::api));
  CHECK_EQUAL(std::string(told[1].name), "cudaLaunchKernel");
  CHECK_EQUAL(told[1].event, uint32_t{DCTX_END});
  CHECK_EQUAL(told[1].duration_ns, told[1].time_ns - told[0].time_ns);
  CHECK_EQUAL(told[1].thread, record.os_thread.load());
  CHECK_EQUAL(std::string(told[2].name), "gemm");
  CHECK_EQUAL(told[2].kind, static_cast<uint32_t>(NodeKind::kernel));
  CHECK_EQUAL(told[2].duration_ns, 30);
  CHECK_EQUAL(told[2].device, 2U);
  CHECK_EQUAL(told[2].registers, 64U);
  for (const dctx_event& event : told) {
    CHECK_EQUAL(event.context, context);
    CHECK_EQUAL(event.correlation, 71U);
  }
}

void notes_are_told_once() {
  begin();
  host().log_once("a");
  host().log_once("a");
  host().log_once("b");
  CHECK_EQUAL(gpu().take_notes().size(), 2U);
  host().log_once("b");
  CHECK_EQUAL(gpu().take_notes().size(), 0U);
}

}  // namespace

int main() {
  the_ring_keeps_the_newest_launches();
  sums_are_those_of_the_records();
  rows_beyond_the_limit_are_folded();
  a_launch_hangs_from_the_operator_and_its_work_from_it();
  nested_calls_count_once_and_share_their_context();
  what_was_launched_unseen_is_an_orphan();
  work_of_a_pause_is_no_loss();
  contexts_of_an_earlier_recording_are_not_used();
  work_of_a_graph_hangs_from_where_it_was_captured();
  listeners_are_told_of_calls_and_work();
  notes_are_told_once();
  return dctx_test::report();
}
