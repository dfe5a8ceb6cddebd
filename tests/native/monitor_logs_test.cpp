// What contexts are called with, and what they allocate.
#include <string>

#include "check.hpp"
#include "monitor/engine/allocations.hpp"
#include "monitor/engine/arguments.hpp"

using namespace dctx::monitor;

namespace {

void a_set_has_one_id() {
  ArgumentTable table;
  CHECK(table.intern({1, 2}) == 0);
  CHECK(table.intern({1, 3}) == 1);
  CHECK(table.intern({1, 2}) == 0);
  CHECK(table.size() == 2);
  CHECK(table.view(1).shapes == 1 && table.view(1).types == 3);
}

void calls_are_told_apart_up_to_a_number() {
  ArgumentLog log;
  uint32_t made = 0;
  const auto next = [&] { return made++; };
  for (int round = 0; round < 2; ++round) {
    for (int set = 0; set < 40; ++set) {
      const uint32_t row = log.row(7, std::to_string(set), next);
      CHECK(row != kNoNode);
      log.add(row, 10);
    }
  }
  CHECK(made == ArgumentLog::kMaxSets);  // no id for what is not told apart
  CHECK(log.size() == ArgumentLog::kMaxSets + 1);
  uint64_t calls = 0;
  for (size_t row = 0; row < log.size(); ++row) {
    const ArgumentCalls sums = log.view(row);
    CHECK(sums.node == 7);
    CHECK(sums.sum_ns == 10 * static_cast<int64_t>(sums.count));
    CHECK(sums.count == (sums.set == kNoNode ? 2 * (40 - ArgumentLog::kMaxSets) : 2));
    calls += sums.count;
  }
  CHECK(calls == 80);
  // Another context has room of its own, and knows the sets that were met before.
  CHECK(log.view(log.row(8, "3", next)).set == 3);
  CHECK(made == ArgumentLog::kMaxSets);
}

void allocations_are_summed_by_context_and_device() {
  AllocationLog log;
  log.add(1, 0, -1, 100, 100);
  log.add(1, 0, -1, 50, 150);
  log.add(1, 0, -1, -100, 50);
  log.add(1, 1, 0, 7, 900);
  log.add(2, 0, -1, -50, 0);
  CHECK(log.size() == 3);
  const AllocationSums host = log.view(0);
  CHECK(host.count == 2 && host.bytes == 150 && host.freed_bytes == 100);
  CHECK(host.peak_bytes == 150);
  const AllocationSums device = log.view(1);
  CHECK(device.device_type == 1 && device.device == 0);
  CHECK(device.count == 1 && device.bytes == 7 && device.peak_bytes == 900);
  const AllocationSums freed = log.view(2);
  CHECK(freed.node == 2 && freed.count == 0 && freed.freed_bytes == 50 && freed.peak_bytes == 0);
}

}  // namespace

int main() {
  a_set_has_one_id();
  calls_are_told_apart_up_to_a_number();
  allocations_are_summed_by_context_and_device();
  return dctx_test::report();
}
