// Samples of threads, counters, and the names of functions.
#include "monitor/engine/cpu_sampler.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "check.hpp"
#include "common/elf_symbols.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/engine/perf_counters.hpp"

using namespace dctx;
using namespace dctx::monitor;

namespace {

uint64_t one_function(uintptr_t) { return 7; }

uint64_t samples_of(const std::string& name) {
  uint64_t sum = 0;
  for (const auto& [place, count] : CpuSampler::instance().places()) {
    const ThreadStore& store = Registry::instance().thread(place.thread).store;
    const NodeView view = store.view(place.node);
    if (view.kind == NodeKind::op &&
        Registry::instance().strings().text(static_cast<uint32_t>(view.label)) == name) {
      CHECK_EQUAL(place.function, 7U);
      sum += count;
    }
  }
  return sum;
}

// Uses CPU time inside an operator until samples found it.
void work(const char* name, std::atomic<bool>& done) {
  ThreadRecord* const record = Registry::instance().current();
  begin_operator(*record, &done, operator_name(*record, name), -1);
  volatile uint64_t value = 0;
  while (!done.load(std::memory_order_relaxed)) value = value + 1;
  end_event(*record, &done);
}

void threads_are_met_in_their_contexts() {
  Registry& registry = Registry::instance();
  CpuSampler& sampler = CpuSampler::instance();
  registry.clear();
  std::string reason;
  CHECK(sampler.start(500, one_function, &reason));
  registry.start({});
  std::atomic<bool> first_done{false};
  std::atomic<bool> second_done{false};
  std::thread first(work, "first", std::ref(first_done));
  std::thread second(work, "second", std::ref(second_done));
  while (samples_of("first") < 5 || samples_of("second") < 5) {
    std::this_thread::yield();
    sampler.collect();
  }
  first_done = true;
  first.join();
  second_done = true;
  second.join();
  sampler.collect();
  registry.stop();
  sampler.stop();
  const uint64_t before = samples_of("first");
  sampler.collect();
  CHECK_EQUAL(samples_of("first"), before);
  CHECK_EQUAL(sampler.dropped(), 0U);
}

void counters_are_read_or_refused_with_a_reason() {
  std::string reason;
  CHECK(!PerfCounters::choose({"no-such-counter"}, &reason));
  CHECK(reason.find("no-such-counter") != std::string::npos);
  CounterValues values{};
  CHECK(!PerfCounters::read(&values));
  reason.clear();
  if (!PerfCounters::choose({"task-clock"}, &reason)) {
    CHECK(!reason.empty());
    return;
  }
  bool read = PerfCounters::read(&values);
  CHECK(read);
  const uint64_t before = values[0];
  while (read && values[0] < before + 1'000'000) read = PerfCounters::read(&values);  // 1 ms
  CHECK(read);
  CHECK(PerfCounters::choose({}, &reason));
  CHECK(!PerfCounters::read(&values));
}

std::string own_path() {
  Dl_info info{};
  CHECK(dladdr(reinterpret_cast<void*>(&own_path), &info) != 0);
  return "/proc/self/exe";
}

uint64_t own_base() {
  uint64_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;
        return 1;  // the program comes first
      },
      &base);
  return base;
}

void functions_have_names() {
  const uint64_t address = reinterpret_cast<uintptr_t>(&one_function) - own_base();
  std::vector<ElfSymbol> found;
  CHECK(elf_symbols(own_path(), "", {address + 1, 1, address}, &found));
  CHECK_EQUAL(found.size(), 3U);
  CHECK_EQUAL(found[0].start, address);
  CHECK(found[0].name.find("one_function(unsigned long)") != std::string::npos);
  CHECK_EQUAL(found[1].name, "");
  CHECK_EQUAL(found[2].name, found[0].name);
  CHECK(!elf_symbols(own_path(), "0123", {address}, &found));
  CHECK(!elf_symbols("/nowhere", "", {address}, &found));
  CHECK_EQUAL(demangled("_ZN1a1bEi"), "a::b(int)");
  CHECK_EQUAL(demangled("_Zbroken"), "_Zbroken");
  CHECK_EQUAL(demangled("main"), "main");
}

// Whatever a file says about itself, nothing outside it is read.
void damaged_files_are_refused() {
  std::ifstream own(own_path(), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(own), std::istreambuf_iterator<char>()};
  const std::string path = "/tmp/dctx-elf-test-" + std::to_string(getpid());
  std::vector<ElfSymbol> found;
  const auto attempt = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
    elf_build_id(path);
    elf_symbols(path, "", {1, 4096, 1 << 20}, &found);
  };
  for (const size_t size : {size_t{0}, size_t{20}, size_t{64}, whole.size() / 2}) {
    attempt(whole.substr(0, size));
  }
  // The header, and the table of sections.
  uint64_t sections = 0;
  std::memcpy(&sections, whole.data() + 40, sizeof sections);
  std::string changed = whole;
  for (size_t at = 16; at < 64; ++at) {
    changed[at] = static_cast<char>(~changed[at]);
    attempt(changed);
    changed[at] = whole[at];
  }
  for (size_t at = sections; at < whole.size(); at += 13) {
    changed[at] = '\xff';
    if (at % 5 == 0) attempt(changed);
  }
  std::remove(path.c_str());
}

}  // namespace

int main() {
  threads_are_met_in_their_contexts();
  counters_are_read_or_refused_with_a_reason();
  functions_have_names();
  damaged_files_are_refused();
  return dctx_test::failures == 0 ? 0 : 1;
}
