// AMD's provider over a stand-in for rocprofiler-sdk: what it asks for, what it makes of callbacks
// and records, and what it does when it is refused. Each scenario has a process of its own.
#include "monitor/gpu/rocprofiler/rocprofiler.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"
#include "fake_rocprofiler.hpp"
#include "monitor/engine/clock.hpp"
#include "monitor/engine/context.hpp"
#include "monitor/gpu/gpu_host.hpp"

using namespace dctx::monitor;
using namespace dctx::monitor::gpu;

namespace {

const Provider& provider() { return rocprofiler_provider(); }

Status open(Reason& reason) {
  Registry::instance().clear();
  Registry::instance().start({});
  return provider().open(*GpuHost::instance().host(), Config{}, reason);
}

std::vector<WorkRow> work() {
  std::vector<uint64_t> seen;
  WorkTable& table = GpuHost::instance().table();
  const std::lock_guard<std::mutex> lock(table.mutex());
  return table.changed(seen);
}

std::string text(const WorkRow& row) {
  return std::string(Registry::instance().strings().text(row.key.name));
}

void work_hangs_from_its_call() {
  Reason reason;
  CHECK(provider().probe(Config{}, reason) == Status::ok);
  CHECK(open(reason) == Status::ok);
  CHECK_EQUAL(std::string(reason.text), std::string());
  CHECK(provider().start(reason) == Status::ok);
  CHECK_EQUAL(fake_is_running(), 1);
  fake_load_kernel(5, "_Z6matmulPf.kd");
  const uint64_t launch = fake_call_begin("hipLaunchKernel");
  CHECK(launch != 0 && launch != kNoContext);
  CHECK_EQUAL(fake_call_begin("hipGetDevice"), launch);  // not told: nothing is pushed
  fake_call_end("hipGetDevice");
  fake_call_end("hipLaunchKernel");
  CHECK_EQUAL(fake_pushed(), 0);
  const uint64_t copy = fake_call_begin("hipMemcpyAsync");
  fake_call_end("hipMemcpyAsync");
  CHECK(copy != launch);

  const uint64_t now_ns = fake_now_ns();
  fake_kernel_done(5, launch, 12, now_ns, now_ns + 3000);
  fake_kernel_done(5, launch, 12, now_ns + 5000, now_ns + 6000);
  fake_copy_done(3, 4096, copy, now_ns, now_ns + 500);
  fake_kernel_done(6, 0, 11, now_ns, now_ns + 70);  // launched before us
  fake_drop(2);
  CHECK_EQUAL(work().size(), size_t{0});
  CHECK(provider().flush(false) == Status::ok);

  const std::vector<WorkRow> rows = work();
  CHECK_EQUAL(rows.size(), size_t{3});
  CHECK_EQUAL(text(rows[0]), std::string("matmul(float*)"));
  CHECK_EQUAL(rows[0].key.context, launch);
  CHECK_EQUAL(rows[0].key.device, 1U);
  CHECK_EQUAL(rows[0].sums.count, uint64_t{2});
  CHECK_EQUAL(rows[0].sums.sum_ns, int64_t{4000});
  CHECK_EQUAL(rows[0].sums.grid[0], 16U);  // 1,000 work items in groups of 64
  CHECK_EQUAL(rows[0].sums.grid[1], 2U);
  CHECK_EQUAL(rows[0].sums.block[0], 64U);
  CHECK_EQUAL(rows[0].sums.shared_bytes, 1024U);
  CHECK(rows[1].key.kind == WorkKind::copy);
  CHECK_EQUAL(text(rows[1]), std::string("Memcpy DtoH"));
  CHECK_EQUAL(rows[1].sums.bytes, uint64_t{4096});
  CHECK_EQUAL(rows[1].key.device, 0U);  // the device that it is copied from
  CHECK_EQUAL(rows[2].key.context, kNoContext);
  const WorkCounts counts = GpuHost::instance().counts();
  CHECK_EQUAL(counts.records, uint64_t{4});
  CHECK_EQUAL(counts.placed, uint64_t{3});
  CHECK_EQUAL(counts.orphans, uint64_t{1});
  CHECK_EQUAL(counts.dropped, uint64_t{2});

  const ThreadStore& store = Registry::instance().current()->store;
  const auto node = static_cast<uint32_t>(PackedContext{launch}.node());
  CHECK(store.kind(node) == NodeKind::api);
  CHECK_EQUAL(store.metrics(node).count, uint64_t{1});

  Registry::instance().stop();  // a pause: work of it is no orphan
  const uint64_t unrecorded = fake_call_begin("hipLaunchKernel");
  CHECK_EQUAL(unrecorded, kNoContext);
  fake_call_end("hipLaunchKernel");
  fake_kernel_done(5, unrecorded, 12, now_ns, now_ns + 1);
  CHECK(provider().close() == Status::ok);
  CHECK_EQUAL(fake_is_running(), 0);
  CHECK_EQUAL(GpuHost::instance().counts().records, uint64_t{4});
}

void a_stop_within_a_call_is_no_loss() {
  Reason reason;
  CHECK(open(reason) == Status::ok);
  CHECK(provider().start(reason) == Status::ok);
  fake_call_begin("hipDeviceSynchronize");
  provider().forked();
  fake_call_end("hipDeviceSynchronize");
  CHECK_EQUAL(fake_pushed(), 0);
}

void times_are_the_hosts() {
  Reason reason;
  CHECK(open(reason) == Status::ok);
  CHECK(provider().start(reason) == Status::ok);
  ClockPair pair{};
  size_t count = 0;
  CHECK(provider().clock_sync(&pair, 1, count) == Status::ok);
  CHECK_EQUAL(count, size_t{1});
  CHECK_EQUAL(pair.device_ns, static_cast<int64_t>(fake_now_ns()));
  CHECK(pair.host_ns <= Clock::now_ns());
}

void who_came_first_has_it() {
  Reason reason;
  fake_fail("force_configure", 16);
  CHECK(open(reason) == Status::taken);
  CHECK(std::strstr(reason.text, "another profiler has it") != nullptr);
}

void a_refused_service_is_told() {
  Reason reason;
  fake_fail("buffer_tracing", 17);
  CHECK(open(reason) == Status::failed);
  CHECK_EQUAL(std::string(reason.text),
              std::string("rocprofiler-sdk refuses to tell of kernels (status 17)"));
  CHECK(provider().start(reason) == Status::failed);
}

void a_context_that_does_not_start_is_told() {
  Reason reason;
  fake_fail("start_context", 12);
  CHECK(open(reason) == Status::ok);
  CHECK(provider().start(reason) == Status::failed);
  CHECK_EQUAL(std::string(reason.text),
              std::string("rocprofiler-sdk refuses to start (status 12)"));
}

void no_library_is_told() {
  setenv("DCTX_ROCPROFILER_LIB", "/nowhere/librocprofiler-sdk.so", 1);
  Reason reason;
  CHECK(provider().probe(Config{}, reason) == Status::no_library);
  CHECK(std::strstr(reason.text, "/nowhere/librocprofiler-sdk.so") != nullptr);
}

void run(void (*scenario)(), const char* version = "10000") {
  const pid_t child = fork();
  if (child == 0) {
    setenv("FAKE_ROCPROFILER_VERSION", version, 1);
    scenario();
    _exit(dctx_test::report());
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK_EQUAL(status, 0);
}

}  // namespace

int main() {
  setenv("DCTX_ROCPROFILER_LIB", FAKE_ROCPROFILER, 1);
  run(work_hangs_from_its_call);
  run(work_hangs_from_its_call, "500");  // 0.5: ROCm 6
  run(a_stop_within_a_call_is_no_loss);
  run(times_are_the_hosts);
  run(who_came_first_has_it);
  run(a_refused_service_is_told);
  run(a_context_that_does_not_start_is_told);
  run(no_library_is_told);
  return dctx_test::report();
}
