// Threads that launch while others deliver records and the sums are read. Also run under
// ThreadSanitizer.
#include <atomic>
#include <thread>
#include <vector>

#include "check.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/gpu/gpu_host.hpp"

using namespace dctx::monitor;
using namespace dctx::monitor::gpu;

namespace {

constexpr uint64_t kThreads = 3;
constexpr uint64_t kLaunches = 4000;

// A writer that never rests and a reader that must never see half of what it writes.
void the_ring_tells_whole_entries() {
  ContextRing ring;
  CHECK(ring.reserve());
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (uint64_t round = 0; round < 200'000; ++round) {
      const uint64_t correlation = 1 + (round % 3) * ContextRing::kSlots;  // one slot
      ring.store(correlation, correlation * 10);
    }
    done = true;
  });
  while (!done.load()) {
    for (uint64_t i = 0; i < 3; ++i) {
      const uint64_t correlation = 1 + i * ContextRing::kSlots;
      uint64_t context = 0;
      if (ring.find(correlation, &context)) CHECK_EQUAL(context, correlation * 10);
    }
  }
  writer.join();
}

void launch_all(const Host& host, uint64_t thread) {
  ThreadRecord& record = *Registry::instance().current();
  const EventName name = operator_name(record, "op");
  for (uint64_t i = 0; i < kLaunches; ++i) {
    begin_operator(record, &i, name, -1);
    ApiCall call;
    call.kind = ApiKind::launch;
    call.name = i % 2 == 0 ? "cudaLaunchKernel" : "cudaMemcpyAsync";
    call.correlation = 1 + thread * kLaunches + i;
    host.on_api(call);
    call.site = ApiSite::leave;
    host.on_api(call);
    end_event(record, &i);
  }
}

void records_find_the_launches_of_other_threads() {
  Registry& registry = Registry::instance();
  registry.clear();
  GpuHost& gpu = GpuHost::instance();
  gpu.clear();
  registry.start({});
  const Host& host = *gpu.host();
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back(launch_all, std::cref(host), thread);
  }
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&host, thread] {
      std::vector<WorkRecord> batch(100);
      for (uint64_t begin = 0; begin < kLaunches; begin += batch.size()) {
        for (uint64_t i = 0; i < batch.size(); ++i) {
          batch[i].name = "kernel";
          batch[i].correlation = 1 + thread * kLaunches + begin + i;
          batch[i].end_ns = 5;
        }
        host.on_records(batch.data(), batch.size());
      }
    });
  }
  std::thread launcher(launch_all, std::cref(host), kThreads);
  std::vector<uint64_t> seen;
  uint64_t before = 0;
  for (int i = 0; i < 50; ++i) {
    const std::lock_guard<std::mutex> lock(gpu.table().mutex());
    for (const WorkRow& row : gpu.table().changed(seen)) {
      CHECK(row.key.context != kNoContext);
      CHECK_EQUAL(row.sums.sum_ns, static_cast<int64_t>(row.sums.count * 5));
    }
    CHECK(gpu.table().records() >= before);
    before = gpu.table().records();
  }
  launcher.join();
  for (std::thread& thread : threads) thread.join();
  const WorkCounts counts = gpu.counts();
  CHECK_EQUAL(counts.placed, kThreads * kLaunches);
  CHECK_EQUAL(counts.orphans, 0U);
  CHECK_EQUAL(gpu.table().records(), kThreads * kLaunches);
}

}  // namespace

int main() {
  the_ring_tells_whole_entries();
  records_find_the_launches_of_other_threads();
  return dctx_test::report();
}
