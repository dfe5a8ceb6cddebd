#include "monitor/gpu/rocprofiler/rocprofiler.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/engine/clock.hpp"
#include "monitor/gpu/rocprofiler/kernels.hpp"
#include "monitor/gpu/rocprofiler/library.hpp"

namespace dctx::monitor::gpu {
namespace rocprofiler {
namespace {

constexpr size_t kBufferBytes = size_t{8} << 20;
constexpr size_t kWatermark = size_t{1} << 20;  // records are delivered from here on
constexpr uint32_t kMostOperations = 4096;

// An operation of the HIP runtime that is told; its texts are the library's own.
struct Operation {
  const char* name;
  ApiKind kind;
};

struct State {
  Functions functions;
  const Host* host = nullptr;
  Handle context{0};
  Handle buffer{0};
  bool configured = false;  // the library has asked for our services, and they are set up
  std::string problem;      // why they are not
  std::string version;
  uint32_t number = 0;
  std::vector<Operation> operations;  // by number; without a name where it is not told
  KernelNames kernels;
  Devices devices;
  std::atomic<bool> running{false};
  std::atomic<int64_t> to_host_ns{0};
};

State& state() {
  static State* const all = new State;
  return *all;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Numbers of operations change from release to release: their names tell what they are.
bool told(std::string_view name, ApiKind& kind) {
  if (contains(name, "GraphLaunch")) {
    kind = ApiKind::graph_launch;
  } else if (contains(name, "LaunchKernel") || contains(name, "LaunchCooperativeKernel") ||
             contains(name, "LaunchByPtr") || contains(name, "MultiKernelMultiDevice")) {
    kind = ApiKind::launch;
  } else if (name.substr(0, 8) == "hipGraph" || contains(name, "Attribute")) {
    return false;
  } else if (contains(name, "Memcpy")) {
    kind = ApiKind::copy;
  } else if (contains(name, "Memset")) {
    kind = ApiKind::set;
  } else if (contains(name, "Synchronize")) {
    kind = ApiKind::synchronize;
  } else if (name == "hipMalloc" || name == "hipMallocAsync") {
    kind = ApiKind::allocate;
  } else if (name == "hipFree" || name == "hipFreeAsync") {
    kind = ApiKind::free;
  } else {
    return false;
  }
  return true;
}

void find_operations(State& all, std::vector<int32_t>& numbers) {
  for (uint32_t number = 0; number < kMostOperations; ++number) {
    const char* name = nullptr;
    uint64_t length = 0;
    if (all.functions.operation_name(kHipRuntime, number, &name, &length) != kSuccess) break;
    Operation operation{nullptr, ApiKind::other};
    if (name != nullptr && told(name, operation.kind)) {
      operation.name = name;
      numbers.push_back(static_cast<int32_t>(number));
    }
    all.operations.push_back(operation);
  }
}

void on_code_object(int32_t operation, int32_t phase, const void* payload) {
  if (operation != kKernelSymbol || phase != kEnter || payload == nullptr) return;
  const KernelSymbol& symbol = *static_cast<const KernelSymbol*>(payload);
  try {
    state().kernels.add(symbol.kernel, symbol.name);
  } catch (...) {
    return;  // memory is out: the kernel stays without a name
  }
}

// On the thread that calls. The context of the call is what the library gives back with its work.
// `user` is kept from the begin of a call to its end: 1 where the begin was told.
void on_call(uint64_t thread, int32_t number, int32_t phase, uint64_t* user) {
  State& all = state();
  if (number < 0 || static_cast<size_t>(number) >= all.operations.size()) return;
  const Operation& operation = all.operations[static_cast<size_t>(number)];
  if (operation.name == nullptr) return;
  ApiCall call;
  call.kind = operation.kind;
  call.name = operation.name;
  if (phase == kEnter) {
    *user = all.running.load(std::memory_order_acquire) ? 1 : 0;
    if (*user == 0) return;
    const uint64_t context = all.host->on_api(call);
    all.functions.push_correlation(all.context, thread, context);
  } else if (phase == kExit && *user == 1) {
    uint64_t before = 0;
    all.functions.pop_correlation(all.context, thread, &before);
    call.site = ApiSite::leave;
    all.host->on_api(call);
  }
}

template <class Record>
void on_callback(Record record, uint64_t* user, void*) {
  if (record.kind == kCodeObject) {
    on_code_object(record.operation, record.phase, record.payload);
  } else if (record.kind == kHipRuntime) {
    on_call(record.thread, record.operation, record.phase, user);
  }
}

// What was pushed at the launch: 0 is what a record carries when nothing was, and kNoContext is
// that of a launch while nothing was recorded.
uint64_t context_of(const AsyncCorrelation& id) {
  return id.external != 0 ? id.external : kNoContext;
}
bool outside(const AsyncCorrelation& id) { return id.external == kNoContext; }

const char* copy_name(int32_t operation) {
  constexpr const char* kNames[] = {"Memcpy", "Memcpy HtoH", "Memcpy HtoD", "Memcpy DtoH",
                                    "Memcpy DtoD"};
  return kNames[operation > 0 && operation < 5 ? operation : 0];
}

WorkRecord kernel_work(const State& all, const KernelRecord& from) {
  WorkRecord work;
  work.kind = WorkKind::kernel;
  work.device = all.devices.number(from.dispatch.agent.value);
  work.stream = from.dispatch.queue.value;
  work.name = all.kernels.find(from.dispatch.kernel);
  work.context = context_of(from.correlation);
  for (size_t i = 0; i < 3; ++i) {
    const uint32_t size = std::max(from.dispatch.workgroup[i], 1U);
    work.block[i] = from.dispatch.workgroup[i];
    work.grid[i] = static_cast<uint32_t>((uint64_t{from.dispatch.grid[i]} + size - 1) / size);
  }
  work.shared_bytes = from.dispatch.group_bytes;
  return work;
}

WorkRecord copy_work(const State& all, const MemoryCopyRecord& from) {
  constexpr int32_t kDeviceToHost = 3;
  WorkRecord work;
  work.kind = WorkKind::copy;
  work.device =
      all.devices.number(from.operation == kDeviceToHost ? from.from.value : from.to.value);
  work.name = copy_name(from.operation);
  work.context = context_of(from.correlation);
  work.bytes = from.bytes;
  return work;
}

void on_buffer(Handle, Handle, RecordHeader** records, size_t count, void*, uint64_t dropped) {
  State& all = state();
  const int64_t to_host_ns = all.to_host_ns.load(std::memory_order_relaxed);
  if (dropped > 0) all.host->on_dropped(dropped);
  for (size_t i = 0; i < count; ++i) {
    const RecordHeader& header = *records[i];
    if (header.category != kTracingCategory || header.payload == nullptr) continue;
    WorkRecord work;
    uint64_t begin_ns = 0, end_ns = 0;
    if (header.kind == kKernelDispatch) {
      const auto& record = *static_cast<const KernelRecord*>(header.payload);
      if (record.size < sizeof record || outside(record.correlation)) continue;
      work = kernel_work(all, record);
      begin_ns = record.begin_ns;
      end_ns = record.end_ns;
    } else if (header.kind == kMemoryCopy) {
      const auto& record = *static_cast<const MemoryCopyRecord*>(header.payload);
      if (record.size < sizeof record || outside(record.correlation)) continue;
      work = copy_work(all, record);
      begin_ns = record.begin_ns;
      end_ns = record.end_ns;
    } else {
      continue;
    }
    work.begin_ns = static_cast<int64_t>(begin_ns) + to_host_ns;
    work.end_ns = static_cast<int64_t>(end_ns) + to_host_ns;
    all.host->on_records(&work, 1);
  }
}

// A step of the set-up; remembers the first that fails.
bool done(State& all, const char* what, Result result) {
  if (result == kSuccess) return true;
  all.problem = std::string("rocprofiler-sdk refuses to ") + what + " (status " +
                std::to_string(result) + ")";
  return false;
}

// The library asks for services. The context starts with start().
int initialize(Finalize, void*) {
  State& all = state();
  const Functions& f = all.functions;
  std::vector<int32_t> operations;
  find_operations(all, operations);
  void* const callback = all.number >= kVersionWithAncestor
                             ? reinterpret_cast<void*>(on_callback<CallbackRecordV1>)
                             : reinterpret_cast<void*>(on_callback<CallbackRecordV0>);
  const bool whole =
      done(all, "make a context", f.create_context(&all.context)) &&
      done(all, "make a buffer",
           f.create_buffer(all.context, kBufferBytes, kWatermark, kDiscard, on_buffer, nullptr,
                           &all.buffer)) &&
      done(all, "tell of loaded code",
           f.callback_tracing(all.context, kCodeObject, nullptr, 0, callback, nullptr)) &&
      done(all, "tell of calls of HIP",
           f.callback_tracing(all.context, kHipRuntime, operations.data(), operations.size(),
                              callback, nullptr)) &&
      done(all, "tell of kernels",
           f.buffer_tracing(all.context, kKernelDispatch, nullptr, 0, all.buffer)) &&
      done(all, "tell of copies",
           f.buffer_tracing(all.context, kMemoryCopy, nullptr, 0, all.buffer));
  if (operations.empty() && whole) all.problem = "rocprofiler-sdk names no calls of HIP";
  all.configured = whole && !operations.empty();
  return all.configured ? 0 : -1;
}

void finished(void*) { state().running.store(false, std::memory_order_release); }

Configuration* configure(uint32_t version, const char*, uint32_t, ClientId* client) {
  static Configuration services{sizeof(Configuration), initialize, finished, nullptr};
  State& all = state();
  client->name = "dctx";
  all.number = version;
  all.version = "rocprofiler-sdk " + std::to_string(version / 10'000) + "." +
                std::to_string(version % 10'000 / 100) + "." + std::to_string(version % 100);
  return &services;
}

Result on_agents(int32_t, const void** agents, size_t count, void*) {
  state().devices.learn(agents, count);
  return kSuccess;
}

void measure_clock(State& all) {
  uint64_t device_ns = 0;
  const int64_t before_ns = Clock::now_ns();
  if (all.functions.timestamp(&device_ns) != kSuccess) return;
  const int64_t host_ns = before_ns + (Clock::now_ns() - before_ns) / 2;
  all.to_host_ns.store(host_ns - static_cast<int64_t>(device_ns), std::memory_order_relaxed);
}

Status probe(const Config& config, Reason& reason) {
  return load(config.libraries, state().functions, reason);
}

Status open(const Host& host, const Config& config, Reason& reason) {
  State& all = state();
  const Status found = load(config.libraries, all.functions, reason);
  if (found != Status::ok) return found;
  all.host = &host;
  if (all.configured) return Status::ok;
  const Result result = all.functions.force_configure(configure);
  if (result == kConfigurationLocked) {
    tell(reason,
         "rocprofiler-sdk was set up before us: another profiler has it, or the ROCm runtime was "
         "loaded first");
    return Status::taken;
  }
  if (!done(all, "be configured", result) || !all.configured) {
    tell(reason, all.problem.empty() ? "rocprofiler-sdk has not asked for our services"
                                     : all.problem.c_str());
    return Status::failed;
  }
  // Without it all work is told to be on device 0.
  all.functions.agents(kAgentVersion, on_agents, sizeof(Agent), nullptr);
  return Status::ok;
}

Status start(Reason& reason) {
  State& all = state();
  if (!all.configured) return Status::failed;
  measure_clock(all);
  all.running.store(true, std::memory_order_release);
  if (done(all, "start", all.functions.start_context(all.context))) return Status::ok;
  all.running.store(false, std::memory_order_release);
  tell(reason, all.problem.c_str());
  return Status::failed;
}

Status stop() {
  State& all = state();
  if (!all.running.exchange(false)) return Status::ok;
  const Result result = all.functions.stop_context(all.context);
  return result == kSuccess ? Status::ok : Status::failed;
}

Status flush(bool) {
  State& all = state();
  if (!all.configured) return Status::ok;
  measure_clock(all);
  return all.functions.flush_buffer(all.buffer) == kSuccess ? Status::ok : Status::failed;
}

Status close() {
  const Status stopped = stop();
  const Status flushed = flush(true);
  return stopped != Status::ok ? stopped : flushed;
}

Status clock_sync(ClockPair* pairs, size_t capacity, size_t& count) {
  State& all = state();
  uint64_t device_ns = 0;
  count = 0;
  if (capacity == 0 || !all.configured) return Status::ok;
  const int64_t host_ns = Clock::now_ns();
  if (all.functions.timestamp(&device_ns) != kSuccess) return Status::failed;
  pairs[0] = {host_ns, static_cast<int64_t>(device_ns)};
  count = 1;
  return Status::ok;
}

}  // namespace
}  // namespace rocprofiler

const Provider& rocprofiler_provider() {
  static const Provider provider = [] {
    namespace own = rocprofiler;
    Provider table;
    table.name = "rocprofiler";
    table.probe = own::probe;
    table.open = own::open;
    table.start = own::start;
    table.stop = own::stop;
    table.close = own::close;
    table.flush = own::flush;
    table.clock_sync = own::clock_sync;
    table.caps = [] { return uint32_t{kKernels | kCopies | kSeveralSubscribers}; };
    table.version = [] { return own::state().version.c_str(); };
    table.forked = [] { own::state().running.store(false); };
    return table;
  }();
  return provider;
}

}  // namespace dctx::monitor::gpu
