// CUPTI as the monitor uses it, on a stand-in that is driven like a program with a GPU. Also run
// under ThreadSanitizer.
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "fake_cupti.h"
#include "monitor/engine/clock.hpp"
#include "monitor/engine/context.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/gpu/cupti/abi.hpp"
#include "monitor/gpu/cupti/cupti.hpp"
#include "monitor/gpu/devices.hpp"
#include "monitor/gpu/gpu_host.hpp"

using namespace dctx::monitor;
using namespace dctx::monitor::gpu;

namespace {

GpuHost& gpu() { return GpuHost::instance(); }

void clear() {
  Registry& registry = Registry::instance();
  registry.stop();
  registry.clear();
  gpu().clear();
  registry.start({});
}

// A recording with CUPTI open.
class Recording {
 public:
  explicit Recording(GraphMode graphs = GraphMode::node) {
    clear();
    Config config;
    config.graphs = graphs;
    Reason reason;
    CHECK(Devices::instance().open(cupti_provider(), config, reason) == Status::ok);
    CHECK_EQUAL(std::string(reason.text), "");
  }
  ~Recording() {
    Devices::instance().close();
    fake_reset();
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

std::vector<WorkRow> rows() {
  std::vector<uint64_t> seen;
  const std::lock_guard<std::mutex> lock(gpu().table().mutex());
  return gpu().table().changed(seen);
}

std::string text(uint64_t id) {
  return std::string(Registry::instance().strings().text(static_cast<uint32_t>(id)));
}

// The names from below the thread to the context, with a slash between them.
std::string path(uint64_t context) {
  const PackedContext packed{context};
  if (!packed.known()) return "?";
  const ThreadStore& store = Registry::instance().thread(packed.thread()).store;
  std::string out;
  for (auto node = static_cast<uint32_t>(packed.node()); node != 0; node = store.parent(node)) {
    out = text(store.view(node).label) + (out.empty() ? "" : "/") + out;
  }
  return out;
}

// Runs `work` inside an operator.
template <class Work>
void in_operator(const char* name, Work&& work) {
  ThreadRecord& record = *Registry::instance().current();
  begin_operator(record, name, operator_name(record, name), -1);
  work();
  end_event(record, name);
}

Status opened(std::string* reason) {
  clear();
  Reason told;
  const Status status = Devices::instance().open(cupti_provider(), {}, told);
  *reason = told.text;
  return status;
}

void probing_touches_nothing() {
  fake_reset();
  Reason reason;
  CHECK(cupti_provider().probe({}, reason) == Status::ok);
  CHECK(std::string(reason.text).find("CUPTI 13.0, ") == 0);
  CHECK_EQUAL(fake_calls("cuptiSubscribe") + fake_calls("cuptiSubscribe_v2"), 0U);
  CHECK_EQUAL(fake_calls("cuptiGetTimestamp") + fake_calls("cuptiActivityEnable"), 0U);
}

void each_kind_of_work_hangs_from_its_call() {
  const Recording recording;
  CHECK_EQUAL(Devices::instance().versions(), "CUPTI 13.0");
  for (const size_t bytes : cupti::kKernelSizes) {
    fake_set_kernel_size(bytes);
    in_operator("op", [] { fake_launch("gemm", 1000, 0, FAKE_NESTED); });
    Devices::instance().flush(false);
  }
  in_operator("op", [] {
    fake_copy(1, 4096, 50);
    fake_copy(10, 512, 20);
    fake_set(64, 5);
    fake_wait();
    fake_allocate(1);
  });
  fake_launch("bare", 10, 1, FAKE_DRIVER_ONLY);
  Devices::instance().flush(true);
  const std::vector<WorkRow> all = rows();
  CHECK_EQUAL(all.size(), 5U);
  CHECK_EQUAL(path(all[0].key.context), "op/cudaLaunchKernel");
  CHECK_EQUAL(text(all[0].key.name), "gemm");
  const WorkSums& kernels = all[0].sums;
  CHECK_EQUAL(kernels.count, 5U);
  CHECK_EQUAL(kernels.sum_ns, 5000);
  CHECK_EQUAL(kernels.min_ns, 1000);
  CHECK_EQUAL(kernels.grid[0], 132U);
  CHECK_EQUAL(kernels.block[0], 256U);
  CHECK_EQUAL(kernels.registers, 40U);
  CHECK_EQUAL(kernels.shared_bytes, 1536U);
  CHECK_EQUAL(path(all[1].key.context), "op/cudaMemcpyAsync");
  CHECK_EQUAL(text(all[1].key.name), "memcpy HtoD");
  CHECK_EQUAL(all[1].sums.bytes, 4096U);
  CHECK_EQUAL(text(all[2].key.name), "memcpy PtoP");
  CHECK_EQUAL(all[2].sums.bytes, 512U);
  CHECK_EQUAL(text(all[3].key.name), "memset");
  CHECK(all[3].key.kind == WorkKind::set);
  CHECK_EQUAL(path(all[4].key.context), "cuLaunchKernel");
  CHECK_EQUAL(all[4].key.device, 1U);
  CHECK_EQUAL(gpu().counts().launches, 9U);
  const ThreadStore& store = Registry::instance().current()->store;
  bool waited = false, allocated = false;
  for (uint32_t node = 0; node < store.node_count(); ++node) {
    const std::string name = text(store.view(node).label);
    waited = waited || (name == "cudaDeviceSynchronize" && store.metrics(node).count == 1);
    allocated = allocated || (name == "cudaMalloc" && store.metrics(node).count == 1);
  }
  CHECK(waited && allocated);
}

void numbers_of_runtime_and_driver_lead_to_one_context() {
  const Recording recording;
  in_operator("op", [] {
    fake_launch("k", 10, 0, FAKE_NESTED);
    fake_launch("k", 10, 0, FAKE_NESTED | FAKE_OTHER_ID);
    fake_launch("k", 10, 0, FAKE_NESTED | FAKE_OTHER_ID | FAKE_DRIVER_ID);
  });
  Devices::instance().flush(true);
  const std::vector<WorkRow> all = rows();
  CHECK_EQUAL(all.size(), 1U);
  CHECK_EQUAL(all[0].sums.count, 3U);
  CHECK_EQUAL(gpu().counts().launches, 3U);
}

void records_come_late_out_of_order_and_in_many_buffers() {
  const Recording recording;
  fake_set_delivery(FAKE_SHUFFLE);
  fake_set_buffer_records(7);
  for (int i = 0; i < 100; ++i) {
    in_operator(i % 2 == 0 ? "even" : "odd",
                [i] { fake_launch(i % 2 == 0 ? "a" : "b", 10, 0, i % 5 == 0 ? FAKE_RUNNING : 0); });
  }
  Devices::instance().flush(false);
  CHECK_EQUAL(gpu().counts().records, 80U);  // the others still run
  fake_complete();
  Devices::instance().flush(false);
  CHECK_EQUAL(gpu().counts().placed, 100U);
  for (const WorkRow& row : rows()) {
    const std::string expected =
        text(row.key.name) == "a" ? "even/cudaLaunchKernel" : "odd/cudaLaunchKernel";
    CHECK_EQUAL(path(row.key.context), expected);
    CHECK_EQUAL(row.sums.count, 50U);
  }
}

void what_cupti_drops_is_counted() {
  const Recording recording;
  fake_launch("k", 10, 0, 0);
  fake_launch("k", 10, 0, FAKE_NO_TIME);
  fake_drop(12);
  Devices::instance().flush(true);
  CHECK_EQUAL(gpu().counts().dropped, 13U);
  CHECK_EQUAL(gpu().counts().placed, 1U);
  CHECK_EQUAL(Registry::instance().losses().get(Loss::drops), 13U);
}

void records_after_the_end_are_ignored() {
  {
    const Recording recording;
    fake_set_delivery(FAKE_LATE);
    fake_launch("k", 10, 0, 0);
    Devices::instance().close();
    CHECK_EQUAL(fake_subscribed(), 0);
    CHECK_EQUAL(fake_kind_enabled(cupti::kConcurrentKernel), 0);
    fake_deliver();
    CHECK_EQUAL(gpu().counts().records, 0U);
    fake_launch("k", 10, 0, 0);  // nobody is told
    CHECK_EQUAL(fake_pending(), 0U);
  }
  CHECK_EQUAL(fake_calls("cuptiFinalize"), 0U);
}

void times_are_on_our_clock() {
  for (const bool own : {true, false}) {
    if (!own) fake_fail("cuptiActivityRegisterTimestampCallback", 1);
    const Recording recording;
    std::vector<ClockPair> pairs(1);
    size_t count = 0;
    CHECK(cupti_provider().clock_sync(pairs.data(), 1, count) == Status::ok);
    CHECK_EQUAL(count, 1U);
    const int64_t apart_ns = pairs[0].device_ns - pairs[0].host_ns;
    constexpr int64_t kSecond = 1'000'000'000;
    CHECK_EQUAL(apart_ns > -kSecond && apart_ns < kSecond, own);
    CHECK_EQUAL(fake_calls("cuptiActivityRegisterTimestampCallback"), 1U);
  }
}

void work_in_graphs_hangs_from_its_capture() {
  const Recording recording;
  fake_capture_begin();
  in_operator("mm", [] { fake_launch("gemm", 0, 0, 0); });
  in_operator("relu", [] { fake_launch("relu", 0, 0, 0); });
  const uint64_t graph = fake_capture_end();
  const uint64_t exec = fake_instantiate(graph);
  const uint64_t other = fake_instantiate(graph);
  for (int i = 0; i < 4; ++i) {
    in_operator("replay", [&] { fake_graph_launch(i < 3 ? exec : other, 100); });
  }
  Devices::instance().flush(true);
  const std::vector<WorkRow> all = rows();
  CHECK_EQUAL(all.size(), 2U);
  CHECK_EQUAL(path(all[0].key.context), "mm/cudaLaunchKernel");
  CHECK_EQUAL(path(all[0].key.alternate), "replay/cudaGraphLaunch");
  CHECK_EQUAL(path(all[1].key.context), "relu/cudaLaunchKernel");
  CHECK_EQUAL(all[0].sums.count, 4U);
  CHECK_EQUAL(all[1].sums.sum_ns, 400);
  fake_destroy_exec(exec);
  Devices::instance().flush(false);
  Devices::instance().flush(false);
  CHECK_EQUAL(gpu().graphs().size(), 4U);  // the graph's two and those of the other copy
  CHECK_EQUAL(fake_instantiate(graph) > other, true);
  fake_destroy_graph(graph);
  Devices::instance().flush(false);
  Devices::instance().flush(false);
  CHECK_EQUAL(gpu().graphs().size(), 4U);
}

void graphs_of_before_hang_from_their_launch() {
  fake_capture_begin();
  fake_launch("gemm", 0, 0, 0);
  const uint64_t exec = fake_instantiate(fake_capture_end());
  {
    const Recording recording;
    in_operator("replay", [&] { fake_graph_launch(exec, 100); });
    Devices::instance().flush(true);
    const std::vector<WorkRow> all = rows();
    CHECK_EQUAL(all.size(), 1U);
    CHECK_EQUAL(path(all[0].key.context), "replay/cudaGraphLaunch");
    CHECK(all[0].key.graph != 0);
    CHECK_EQUAL(gpu().counts().orphans, 0U);
  }
  const Recording recording(GraphMode::launch);
  in_operator("replay", [&] { fake_graph_launch(exec, 100); });
  Devices::instance().flush(true);
  CHECK_EQUAL(rows().size(), 1U);
  CHECK(rows()[0].key.kind == WorkKind::graph);
}

void a_record_that_nobody_answers_is_told() {
  const Recording recording;
  fake_set_delivery(FAKE_LATE);
  for (int i = 0; i < 4; ++i) {
    fake_launch("k", 10, 0, 0);
    Devices::instance().flush(false);
  }
  const std::vector<std::string> notes = gpu().take_notes();
  CHECK_EQUAL(notes.size(), 1U);
  CHECK(!notes.empty() && notes[0].find("no record of it arrives") != std::string::npos);
}

// One failure of CUPTI, and what is said of it.
void fails(const char* function, int32_t result, Status expected, const char* words) {
  fake_reset();
  fake_fail(function, result);
  std::string reason;
  CHECK(opened(&reason) == expected);
  CHECK(reason.find(words) != std::string::npos);
  if (dctx_test::failures > 0)
    std::fprintf(stderr, "%s %d: %s\n", function, result, reason.c_str());
  CHECK_EQUAL(fake_subscribed(), 0);
  fake_launch("k", 10, 0, 0);  // the program goes on
  fake_reset();
}

void each_failure_has_its_reason() {
  fails("cuptiSubscribe_v2", 15, Status::no_driver, "CUPTI_ERROR_NOT_INITIALIZED (15): no driver");
  fails("cuptiSubscribe_v2", 999, Status::no_driver, "(999): no driver");
  fails("cuptiActivityEnable", 35, Status::no_privilege, "NVreg_RestrictProfilingToAdminUsers=0");
  fails("cuptiActivityEnable", 40, Status::no_privilege, "(40): this needs more rights");
  fails("cuptiActivityRegisterCallbacks", 7, Status::failed, "takes no buffers: result 7");
  fails("cuptiEnableCallback", 1, Status::unsupported, "no launch");
  fake_set_holder("CUPTI for Nsight Systems");
  std::string reason;
  CHECK(opened(&reason) == Status::taken);
  CHECK(reason.find("another profiler has CUPTI (CUPTI for Nsight Systems)") != std::string::npos);
  fake_reset();
  fake_fail("cuptiGetVersion", 15);
  fake_fail("cuptiSubscribe_v2", 15);
  CHECK(opened(&reason) == Status::no_driver);
  fake_reset();
  fake_set_version(17);
  CHECK(opened(&reason) == Status::unsupported);
  CHECK(reason.find("11.8 or newer is needed") != std::string::npos);
  fake_reset();
}

void several_subscribers_are_allowed_where_cupti_knows_how() {
  fake_set_version(130'401);
  const Recording recording;
  CHECK_EQUAL(Devices::instance().versions(), "CUPTI 13.4");
  CHECK_EQUAL(fake_calls("cuptiActivityEnable"), 0U);
  CHECK(fake_calls("cuptiActivityEnable_v2") > 0);
  CHECK_EQUAL(fake_calls("cuptiActivityRegisterTimestampCallback"), 0U);
  in_operator("op", [] { fake_launch("k", 10, 0, FAKE_NESTED); });
  Devices::instance().flush(true);
  CHECK_EQUAL(gpu().counts().placed, 1U);
}

// Whatever happens, every record is placed, an orphan, of a pause, or dropped.
void every_record_is_accounted_for() {
  std::mt19937 source(7);
  const auto random = [&source] { return static_cast<uint32_t>(source() & 0xffffU); };
  for (int round = 0; round < 20; ++round) {
    const Recording recording;
    Registry& registry = Registry::instance();
    fake_set_delivery(static_cast<int>(random() % 4));
    if (random() % 2 == 0) fake_set_buffer_records(1 + random() % 20);
    std::vector<uint64_t> execs;
    uint64_t expected = 0, unseen = 0;
    for (int step = 0; step < 200; ++step) {
      switch (random() % 12) {
        case 0:
          fake_copy(1 + static_cast<int>(random() % 10), 100, 5);
          ++expected;
          break;
        case 1:
          fake_capture_begin();
          for (uint32_t node = random() % 4; node > 0; --node) fake_launch("node", 0, 0, 0);
          execs.push_back(fake_instantiate(fake_capture_end()));
          break;
        case 2:
          if (!execs.empty()) {
            const size_t before = fake_pending() + gpu().counts().records;
            fake_graph_launch(execs[random() % execs.size()], 10);
            expected += fake_pending() + gpu().counts().records - before;
          }
          break;
        case 3:
          Devices::instance().flush(random() % 2 == 0);
          break;
        case 4:
          if (random() % 8 == 0) registry.active() ? registry.stop() : registry.start({});
          break;
        case 5:
          if (!execs.empty() && random() % 4 == 0) {
            fake_destroy_exec(execs.back());
            execs.pop_back();
          }
          break;
        case 6:
          fake_drop(1);
          ++expected;
          break;
        default: {
          const int flags = static_cast<int>(random() % 64);
          fake_launch("k", 10, random() % 3, flags);
          ++expected;
          constexpr int kMatters =
              FAKE_NESTED | FAKE_OTHER_ID | FAKE_DRIVER_ID | FAKE_DRIVER_ONLY | FAKE_NO_TIME;
          // The record carries the number of a call that was not seen.
          if ((flags & kMatters) == (FAKE_OTHER_ID | FAKE_DRIVER_ID)) ++unseen;
        }
      }
    }
    fake_launch("last", 1, 0, 0);  // what was dropped is told with a buffer
    ++expected;
    Devices::instance().flush(true);
    const WorkCounts counts = gpu().counts();
    CHECK_EQUAL(counts.records, counts.placed + counts.orphans + counts.outside);
    CHECK_EQUAL(counts.records + counts.dropped, expected);
    CHECK_EQUAL(counts.orphans, unseen);
    uint64_t in_rows = 0;
    for (const WorkRow& row : rows()) in_rows += row.sums.count;
    CHECK_EQUAL(in_rows, counts.placed + counts.orphans);
  }
}

void threads_launch_while_records_are_read() {
  const Recording recording;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([] {
      for (int i = 0; i < 300; ++i) {
        in_operator("op", [] { fake_launch("k", 10, 0, FAKE_NESTED); });
      }
    });
  }
  for (int i = 0; i < 30; ++i) Devices::instance().flush(false);
  for (std::thread& thread : threads) thread.join();
  Devices::instance().flush(true);
  CHECK_EQUAL(gpu().counts().placed, 900U);
}

}  // namespace

int main() {
  Clock::calibrate();
  setenv("DCTX_CUPTI_LIB", FAKE_CUPTI, 1);
  probing_touches_nothing();
  each_kind_of_work_hangs_from_its_call();
  numbers_of_runtime_and_driver_lead_to_one_context();
  records_come_late_out_of_order_and_in_many_buffers();
  what_cupti_drops_is_counted();
  records_after_the_end_are_ignored();
  times_are_on_our_clock();
  work_in_graphs_hangs_from_its_capture();
  graphs_of_before_hang_from_their_launch();
  a_record_that_nobody_answers_is_told();
  each_failure_has_its_reason();
  several_subscribers_are_allowed_where_cupti_knows_how();
  every_record_is_accounted_for();
  threads_launch_while_records_are_read();
  return dctx_test::report();
}
