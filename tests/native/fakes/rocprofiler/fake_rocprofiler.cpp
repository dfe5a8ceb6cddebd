// A stand-in for rocprofiler-sdk: asks a tool for its services and hands it callbacks and records,
// as tests say. Version 0.x and 1.x differ in what callbacks are given.
#include "fake_rocprofiler.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "monitor/gpu/rocprofiler/abi.hpp"

using namespace dctx::monitor::gpu::rocprofiler;

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr const char* kOperations[] = {"hipApiName",      "hipGetDevice",   "hipMemcpyAsync",
                                       "hipLaunchKernel", "hipGraphLaunch", "hipDeviceSynchronize"};
constexpr size_t kOperationCount = sizeof kOperations / sizeof *kOperations;
constexpr uint64_t kContext = 1, kBuffer = 2;

struct Fake {
  bool configured = false, running = false;
  std::map<std::string, Result> failures;
  std::map<int32_t, void*> callbacks;
  std::vector<bool> told = std::vector<bool>(kOperationCount);
  std::map<int32_t, bool> buffered;
  BufferCallback deliver = nullptr;
  std::vector<uint64_t> external;
  std::vector<uint64_t> users;
  std::vector<std::unique_ptr<KernelRecord>> kernels;
  std::vector<std::unique_ptr<MemoryCopyRecord>> copies;
  std::vector<RecordHeader> records;
  uint64_t dropped = 0;
  uint64_t now_ns = 5'000'000'000;
};

Fake& fake() {
  static Fake* const all = new Fake;
  return *all;
}

Result result(const char* function) {
  const auto found = fake().failures.find(function);
  return found != fake().failures.end() ? found->second : kSuccess;
}

uint32_t version() {
  const char* const text = std::getenv("FAKE_ROCPROFILER_VERSION");
  return text != nullptr ? static_cast<uint32_t>(std::atoi(text)) : 10'000U;
}

template <class Record>
void call(void* function, int32_t kind, int32_t operation, int32_t phase, void* payload,
          uint64_t* user) {
  Record record{};
  record.context.value = kContext;
  record.thread = 77;
  record.kind = kind;
  record.operation = operation;
  record.phase = phase;
  record.payload = payload;
  reinterpret_cast<void (*)(Record, uint64_t*, void*)>(function)(record, user, nullptr);
}

void tell(int32_t kind, int32_t operation, int32_t phase, void* payload, uint64_t* user) {
  const auto found = fake().callbacks.find(kind);
  if (found == fake().callbacks.end()) return;
  if (version() >= kVersionWithAncestor) {
    call<CallbackRecordV1>(found->second, kind, operation, phase, payload, user);
  } else {
    call<CallbackRecordV0>(found->second, kind, operation, phase, payload, user);
  }
}

int32_t number_of(const char* function) {
  for (size_t i = 0; i < kOperationCount; ++i) {
    if (std::strcmp(kOperations[i], function) == 0) return static_cast<int32_t>(i);
  }
  return -1;
}

bool is_told(const char* function) {
  const int32_t number = number_of(function);
  return fake().running && number >= 0 && fake().told[static_cast<size_t>(number)];
}

}  // namespace

FAKE_EXPORT Result rocprofiler_create_context(Handle* context) {
  context->value = kContext;
  return result("create_context");
}
FAKE_EXPORT Result rocprofiler_start_context(Handle) {
  const Result status = result("start_context");
  fake().running = status == kSuccess;
  return status;
}
FAKE_EXPORT Result rocprofiler_stop_context(Handle) {
  fake().running = false;
  return result("stop_context");
}
FAKE_EXPORT Result rocprofiler_create_buffer(Handle, size_t, size_t, int32_t policy,
                                             BufferCallback callback, void*, Handle* buffer) {
  if (policy != kDiscard) return 1;
  fake().deliver = callback;
  buffer->value = kBuffer;
  return result("create_buffer");
}
FAKE_EXPORT Result rocprofiler_flush_buffer(Handle buffer) {
  Fake& all = fake();
  if (buffer.value != kBuffer) return 3;
  std::vector<RecordHeader*> headers;
  for (RecordHeader& record : all.records) headers.push_back(&record);
  if (!headers.empty() || all.dropped > 0) {
    all.deliver({kContext}, {kBuffer}, headers.data(), headers.size(), nullptr, all.dropped);
  }
  all.records.clear();
  all.kernels.clear();
  all.copies.clear();
  all.dropped = 0;
  return result("flush_buffer");
}
FAKE_EXPORT Result rocprofiler_configure_callback_tracing_service(Handle, int32_t kind,
                                                                  int32_t* operations, size_t count,
                                                                  void* callback, void*) {
  fake().callbacks[kind] = callback;
  for (size_t i = 0; kind == kHipRuntime && i < count; ++i) {
    fake().told[static_cast<size_t>(operations[i])] = true;
  }
  return result("callback_tracing");
}
FAKE_EXPORT Result rocprofiler_configure_buffer_tracing_service(Handle, int32_t kind, int32_t*,
                                                                size_t, Handle) {
  fake().buffered[kind] = true;
  return result("buffer_tracing");
}
FAKE_EXPORT Result rocprofiler_query_callback_tracing_kind_operation_name(int32_t kind,
                                                                          uint32_t operation,
                                                                          const char** name,
                                                                          uint64_t* length) {
  if (kind != kHipRuntime || operation >= kOperationCount) return 5;
  *name = kOperations[operation];
  *length = std::strlen(*name);
  return kSuccess;
}
FAKE_EXPORT Result rocprofiler_push_external_correlation_id(Handle, uint64_t, uint64_t value) {
  fake().external.push_back(value);
  return kSuccess;
}
FAKE_EXPORT Result rocprofiler_pop_external_correlation_id(Handle, uint64_t, uint64_t* value) {
  if (fake().external.empty()) return 1;
  *value = fake().external.back();
  fake().external.pop_back();
  return kSuccess;
}
FAKE_EXPORT Result rocprofiler_get_timestamp(uint64_t* now_ns) {
  *now_ns = fake().now_ns;
  return kSuccess;
}
FAKE_EXPORT Result rocprofiler_query_available_agents(int32_t, AgentsCallback callback, size_t,
                                                      void* data) {
  const Agent agents[] = {{256, {10}, 1}, {256, {11}, kGpuAgent}, {256, {12}, kGpuAgent}};
  const void* pointers[] = {&agents[0], &agents[1], &agents[2]};
  return callback(kAgentVersion, pointers, 3, data);
}
FAKE_EXPORT Result rocprofiler_force_configure(Configure configure) {
  if (const Result status = result("force_configure"); status != kSuccess) return status;
  if (fake().configured) return kConfigurationLocked;
  fake().configured = true;
  ClientId client{nullptr, 1};
  const Configuration* const services = configure(version(), "fake", 0, &client);
  if (services == nullptr || client.name == nullptr) return 1;
  services->initialize(nullptr, services->data);
  return kSuccess;
}

FAKE_EXPORT uint64_t fake_call_begin(const char* function) {
  Fake& all = fake();
  all.users.push_back(0);
  if (is_told(function)) tell(kHipRuntime, number_of(function), kEnter, nullptr, &all.users.back());
  return all.external.empty() ? 0 : all.external.back();
}
FAKE_EXPORT void fake_call_end(const char* function) {
  Fake& all = fake();
  if (is_told(function)) tell(kHipRuntime, number_of(function), kExit, nullptr, &all.users.back());
  all.users.pop_back();
}
FAKE_EXPORT void fake_load_kernel(uint64_t kernel, const char* symbol) {
  KernelSymbol payload{sizeof payload, kernel, 1, symbol};
  uint64_t user = 0;
  tell(kCodeObject, kKernelSymbol, kEnter, &payload, &user);
}
FAKE_EXPORT void fake_kernel_done(uint64_t kernel, uint64_t external, uint64_t agent,
                                  uint64_t begin_ns, uint64_t end_ns) {
  Fake& all = fake();
  if (!all.buffered[kKernelDispatch]) return;
  auto record = std::make_unique<KernelRecord>();
  *record = {};
  record->size = sizeof *record;
  record->kind = kKernelDispatch;
  record->correlation.external = external;
  record->begin_ns = begin_ns;
  record->end_ns = end_ns;
  record->dispatch.agent.value = agent;
  record->dispatch.kernel = kernel;
  record->dispatch.group_bytes = 1024;
  const uint32_t workgroup[] = {64, 1, 1}, grid[] = {1000, 2, 1};
  std::memcpy(record->dispatch.workgroup, workgroup, sizeof workgroup);
  std::memcpy(record->dispatch.grid, grid, sizeof grid);
  all.records.push_back({kTracingCategory, kKernelDispatch, record.get()});
  all.kernels.push_back(std::move(record));
}
FAKE_EXPORT void fake_copy_done(int operation, uint64_t bytes, uint64_t external, uint64_t begin_ns,
                                uint64_t end_ns) {
  Fake& all = fake();
  if (!all.buffered[kMemoryCopy]) return;
  auto record = std::make_unique<MemoryCopyRecord>();
  *record = {};
  record->size = sizeof *record;
  record->kind = kMemoryCopy;
  record->operation = operation;
  record->correlation.external = external;
  record->begin_ns = begin_ns;
  record->end_ns = end_ns;
  record->to.value = 12;
  record->from.value = 11;
  record->bytes = bytes;
  all.records.push_back({kTracingCategory, kMemoryCopy, record.get()});
  all.copies.push_back(std::move(record));
}
FAKE_EXPORT void fake_drop(uint64_t records) { fake().dropped += records; }
FAKE_EXPORT void fake_fail(const char* function, int32_t status) {
  fake().failures[function] = status;
}
FAKE_EXPORT uint64_t fake_now_ns() { return fake().now_ns; }
FAKE_EXPORT int fake_is_running() { return fake().running ? 1 : 0; }
FAKE_EXPORT int fake_pushed() { return static_cast<int>(fake().external.size()); }
