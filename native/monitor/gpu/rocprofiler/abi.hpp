#pragma once
#include <cstddef>
#include <cstdint>

// The part of AMD's rocprofiler-sdk that we use, declared by hand from its documented interface, so
// that no header of ROCm is needed at build time. Version 0.x is that of ROCm 6, 1.x that of
// ROCm 7.
namespace dctx::monitor::gpu::rocprofiler {

using Result = int32_t;
constexpr Result kSuccess = 0;
constexpr Result kConfigurationLocked = 16;

enum CallbackKind : int32_t { kHipRuntime = 5, kCodeObject = 10 };
enum BufferKind : int32_t { kMemoryCopy = 10, kKernelDispatch = 11 };
enum Phase : int32_t { kEnter = 1, kExit = 2 };
constexpr int32_t kKernelSymbol = 2;      // an operation of kCodeObject
constexpr uint32_t kTracingCategory = 1;  // of records in buffers
constexpr int32_t kDiscard = 1;           // what a full buffer does with records: counts them
constexpr int32_t kAgentVersion = 1;
constexpr int32_t kGpuAgent = 2;
constexpr uint32_t kVersionWithAncestor = 10'000;  // 1.0.0

struct Handle {
  uint64_t value;
};

// What a callback is told, by value on the stack. Where the kind follows depends on the version.
struct CallbackRecordV0 {
  Handle context;
  uint64_t thread;
  uint64_t correlation;
  uint64_t external;
  int32_t kind;
  int32_t operation;
  int32_t phase;
  void* payload;
};
static_assert(sizeof(CallbackRecordV0) == 56 && offsetof(CallbackRecordV0, kind) == 32 &&
              offsetof(CallbackRecordV0, payload) == 48);

struct CallbackRecordV1 {
  Handle context;
  uint64_t thread;
  uint64_t correlation;
  uint64_t external;
  uint64_t ancestor;
  int32_t kind;
  int32_t operation;
  int32_t phase;
  void* payload;
};
static_assert(sizeof(CallbackRecordV1) == 64 && offsetof(CallbackRecordV1, kind) == 40 &&
              offsetof(CallbackRecordV1, payload) == 56);

// Both are passed in memory: a callback of one type must not be registered with the other version.
using CallbackV0 = void (*)(CallbackRecordV0 record, uint64_t* user, void* data);
using CallbackV1 = void (*)(CallbackRecordV1 record, uint64_t* user, void* data);

struct KernelSymbol {
  uint64_t size;
  uint64_t kernel;
  uint64_t code_object;
  const char* name;
};

struct RecordHeader {
  uint32_t category;
  uint32_t kind;
  void* payload;
};
static_assert(sizeof(RecordHeader) == 16);

struct AsyncCorrelation {
  uint64_t internal;
  uint64_t external;
};

struct MemoryCopyRecord {
  uint64_t size;
  int32_t kind;
  int32_t operation;  // 1 host to host, 2 host to device, 3 device to host, 4 device to device
  AsyncCorrelation correlation;
  uint64_t thread;
  uint64_t begin_ns;
  uint64_t end_ns;
  Handle to;
  Handle from;
  uint64_t bytes;
};
static_assert(offsetof(MemoryCopyRecord, begin_ns) == 40 && offsetof(MemoryCopyRecord, to) == 56 &&
              offsetof(MemoryCopyRecord, bytes) == 72 && sizeof(MemoryCopyRecord) == 80);

struct DispatchInfo {
  uint64_t size;
  Handle agent;
  Handle queue;
  uint64_t kernel;
  uint64_t dispatch;
  uint32_t private_bytes;
  uint32_t group_bytes;
  uint32_t workgroup[3];
  uint32_t grid[3];  // in work items, not in workgroups
  uint8_t reserved[56];
};
static_assert(sizeof(DispatchInfo) == 128 && offsetof(DispatchInfo, workgroup) == 48);

struct KernelRecord {
  uint64_t size;
  int32_t kind;
  int32_t operation;
  AsyncCorrelation correlation;
  uint64_t thread;
  uint64_t begin_ns;
  uint64_t end_ns;
  DispatchInfo dispatch;
};
static_assert(offsetof(KernelRecord, dispatch) == 56 && sizeof(KernelRecord) == 184);

struct Agent {  // what all versions begin with
  uint64_t size;
  Handle id;
  int32_t type;
};

struct ClientId {
  const char* name;
  uint32_t handle;
};

using Finalize = void (*)(ClientId);
using Initialize = int (*)(Finalize, void*);
using Finished = void (*)(void*);

struct Configuration {
  size_t size;
  Initialize initialize;
  Finished finished;
  void* data;
};
static_assert(sizeof(Configuration) == 32);

using Configure = Configuration* (*)(uint32_t version, const char* text, uint32_t priority,
                                     ClientId* client);
using BufferCallback = void (*)(Handle context, Handle buffer, RecordHeader** records, size_t count,
                                void* data, uint64_t dropped);
using AgentsCallback = Result (*)(int32_t version, const void** agents, size_t count, void* data);

struct Functions {
  Result (*force_configure)(Configure) = nullptr;
  Result (*create_context)(Handle*) = nullptr;
  Result (*start_context)(Handle) = nullptr;
  Result (*stop_context)(Handle) = nullptr;
  Result (*create_buffer)(Handle, size_t, size_t, int32_t, BufferCallback, void*,
                          Handle*) = nullptr;
  Result (*flush_buffer)(Handle) = nullptr;
  Result (*callback_tracing)(Handle, int32_t, int32_t*, size_t, void*, void*) = nullptr;
  Result (*buffer_tracing)(Handle, int32_t, int32_t*, size_t, Handle) = nullptr;
  Result (*operation_name)(int32_t, uint32_t, const char**, uint64_t*) = nullptr;
  Result (*push_correlation)(Handle, uint64_t, uint64_t) = nullptr;
  Result (*pop_correlation)(Handle, uint64_t, uint64_t*) = nullptr;
  Result (*timestamp)(uint64_t*) = nullptr;
  Result (*agents)(int32_t, AgentsCallback, size_t, void*) = nullptr;
};

}  // namespace dctx::monitor::gpu::rocprofiler
