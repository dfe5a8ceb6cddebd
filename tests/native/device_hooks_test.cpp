// Hooked calls of devices: where arguments are, what is told of a call, and what the depth guard
// does.
#include "monitor/gpu/custom/device_hooks.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"
#include "monitor/engine/context.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/gpu/custom/route/hook_table.hpp"
#include "monitor/gpu/gpu_host.hpp"

using namespace dctx;
using namespace dctx::monitor;
using namespace dctx::monitor::gpu;

namespace {

constexpr uint32_t kDevice = 64;

std::string name_of(const WorkRow& row) {
  return std::string(Registry::instance().strings().text(row.key.name));
}

std::vector<WorkRow> work() {
  std::vector<uint64_t> seen;
  WorkTable& table = GpuHost::instance().table();
  const std::lock_guard<std::mutex> lock(table.mutex());
  return table.changed(seen);
}

HookSpec spec(const char* function, HookRole role) {
  HookSpec hook;
  hook.device = kDevice;
  hook.function = function;
  hook.role = role;
  return hook;
}

void test_table() {
  static device::HookTable table;
  const char text[] = "libnpu.so.1\tnpuLaunch\t2\t-1\nlibnpu.so.1\tnpuAlloc\t0\t0\nbroken\n";
  device::parse_hooks(text, sizeof text - 1, &table);
  CHECK_EQUAL(table.count, size_t{2});
  CHECK(device::same("npuLaunch", table.lines[0].function, table.lines[0].function_bytes));
  CHECK(!device::same("npuLaunc", table.lines[0].function, table.lines[0].function_bytes));
  CHECK(!device::same("npuLaunchX", table.lines[0].function, table.lines[0].function_bytes));
  CHECK_EQUAL(table.lines[0].stack_words, uint64_t{2});
  CHECK_EQUAL(table.lines[0].absent, int64_t{-1});
  CHECK_EQUAL(table.lines[1].absent, int64_t{0});
  device::parse_hooks("a\tb\t13\t0\n", 9, &table);
  CHECK_EQUAL(table.count, size_t{0});
  CHECK_EQUAL(std::string(device::base_name("/a/b.so")), std::string("b.so"));
}

void test_places() {
  std::vector<ArgumentType> types(7);
  types.insert(types.begin() + 1, {true, 8});
  types.back().bytes = 4;
  uint64_t words = 0;
  const std::vector<ArgumentPlace> places = argument_places(types, words);
  CHECK_EQUAL(words, uint64_t{1});
  CHECK(places[0].where == ArgumentPlace::integer && places[0].index == 0);
  CHECK(places[1].where == ArgumentPlace::nowhere);
  CHECK(places[2].where == ArgumentPlace::integer && places[2].index == 1);
  CHECK(places[7].where == ArgumentPlace::on_stack && places[7].index == 0);
  CHECK_EQUAL(int{places[7].bytes}, 4);
}

// Frames of calls that nest, as they lie on a stack: the inner one below the outer one.
struct Frames {
  device::CallFrame inner{};
  device::CallFrame outer{};
};

void call(uint32_t hook, device::CallFrame& frame) {
  frame.token = DeviceHooks::begin_call(hook, &frame);
}

void done(device::CallFrame& frame) {
  if (frame.token != 0) DeviceHooks::end_call(frame.token, &frame);
}

void test_calls() {
  Registry& registry = Registry::instance();
  registry.clear();
  registry.start({});
  const char kernel[] = "matmul";
  Frames frames;
  frames.outer.integers[0] = reinterpret_cast<uintptr_t>(kernel);
  frames.outer.integers[1] = 7;  // the stream
  call(0, frames.outer);
  CHECK(frames.outer.token != 0);
  call(1, frames.inner);  // part of the outer call
  CHECK_EQUAL(frames.inner.token, uint64_t{0});
  done(frames.inner);
  done(frames.outer);
  CHECK_EQUAL(DeviceHooks::instance().counts().open, uint64_t{1});

  // A wrong description: no text is there.
  frames.outer.integers[0] = 8;
  call(0, frames.outer);
  done(frames.outer);
  CHECK_EQUAL(DeviceHooks::instance().counts().open, uint64_t{2});

  frames.outer.integers[0] = 7;
  call(2, frames.outer);  // waits for stream 7
  done(frames.outer);
  CHECK_EQUAL(DeviceHooks::instance().counts().open, uint64_t{0});

  frames.outer.integers[2] = uint64_t{0xffffffff00001000};
  call(1, frames.outer);  // a copy of 4096 bytes: 32 bits count
  done(frames.outer);

  // Left by a longjmp: the next call of the stack's same height is not inside it.
  call(3, frames.inner);
  call(0, frames.outer);
  done(frames.outer);
  const HookCounts counts = DeviceHooks::instance().counts();
  CHECK_EQUAL(counts.abandoned, uint64_t{1});
  CHECK_EQUAL(counts.nested, uint64_t{1});
  CHECK_EQUAL(counts.calls, uint64_t{6});

  const std::vector<WorkRow> rows = work();
  CHECK_EQUAL(rows.size(), size_t{3});
  CHECK_EQUAL(name_of(rows[0]), std::string("matmul"));
  CHECK_EQUAL(name_of(rows[1]), std::string("npuLaunch"));
  CHECK_EQUAL(rows[1].sums.count, uint64_t{2});
  CHECK_EQUAL(name_of(rows[2]), std::string("npuCopy"));
  CHECK(rows[2].key.kind == WorkKind::copy);
  CHECK_EQUAL(rows[2].sums.bytes, uint64_t{4096});
  CHECK_EQUAL(rows[2].key.device, kDevice);
  const ThreadStore& store = registry.current()->store;
  const auto launch = static_cast<uint32_t>(PackedContext{rows[0].key.context}.node());
  CHECK(store.kind(launch) == NodeKind::api);
  CHECK_EQUAL(store.metrics(launch).count, uint64_t{3});
  CHECK_EQUAL(registry.losses().get(Loss::orphans), uint64_t{0});

  registry.stop();
  call(0, frames.outer);  // nothing is recorded: the call is passed on
  done(frames.outer);
  CHECK_EQUAL(work().size(), size_t{3});
}

}  // namespace

int main() {
  test_table();
  test_places();
  HookSpec launch = spec("npuLaunch", HookRole::launch);
  launch.async = true;
  launch.name.where = launch.stream.where = ArgumentPlace::integer;
  launch.stream.index = 1;
  HookSpec copy = spec("npuCopy", HookRole::memcpy);
  copy.bytes.where = ArgumentPlace::integer;
  copy.bytes.index = 2;
  copy.bytes.bytes = 4;
  HookSpec sync = spec("npuSync", HookRole::sync);
  sync.stream.where = ArgumentPlace::integer;
  DeviceHooks::instance().configure({launch, copy, sync, spec("npuOther", HookRole::other)});
  DeviceHooks::instance().open(*GpuHost::instance().host());
  DeviceHooks::instance().start();
  test_calls();
  return dctx_test::report();
}
