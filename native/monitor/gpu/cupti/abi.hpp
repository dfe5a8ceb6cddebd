#pragma once
#include <cstddef>
#include <cstdint>

// The part of CUPTI's binary interface that is used, declared by hand: nothing of NVIDIA is needed
// to build, and one build serves CUPTI 11.8 to 13.x. tests/native/cupti_headers compares it with
// NVIDIA's own headers where they are installed. Records only grow at their end, so that a prefix
// of the newest reads all of them.
namespace dctx::monitor::gpu::cupti {

using Result = int32_t;
using Subscriber = void*;
using CallbackFunction = void (*)(void* user, uint32_t domain, uint32_t id, const void* data);
using RequestBuffer = void (*)(uint8_t** buffer, size_t* size, size_t* max_records);
using CompleteBuffer = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                size_t valid);
// Of the interface for several subscribers.
using RequestBuffer2 = void (*)(uint8_t** buffer, size_t* size, size_t* max_records, void* info);
using CompleteBuffer2 = void (*)(uint8_t* buffer, size_t size, size_t valid, void* info);
using Timestamp = uint64_t (*)();

enum ResultCode : Result {
  kSuccess = 0,
  kInvalidOperation = 7,
  kOutOfMemory = 8,
  kNoMoreRecords = 12,
  kNotInitialized = 15,
  kInsufficientPrivileges = 35,
  kMultipleSubscribers = 39,
  kVirtualizedPrivileges = 40,
  kUnknown = 999,
};

enum Domain : uint32_t {
  kDriverApi = 1,
  kRuntimeApi = 2,
  kResource = 3,
  kSynchronize = 4,
  kNvtx = 5,
  kState = 6,
};
enum Site : uint32_t { kEnter = 0, kExit = 1 };

enum ResourceId : uint32_t {
  kContextCreated = 1,
  kContextDestroyStarting = 2,
  kModuleLoaded = 6,
  kModuleUnloadStarting = 7,
  kGraphNodeCreated = 13,
  kGraphNodeDestroyStarting = 14,
  kGraphExecCreated = 18,
  kGraphExecDestroyStarting = 19,
  kGraphNodeCloned = 20,
};

enum ActivityKind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kMemcpyPeer = 22,
  kSynchronization = 38,
  kExternalCorrelation = 39,
  kMemory2 = 49,
  kGraphTrace = 51,
};

struct CallbackData {
  uint32_t site;
  uint32_t pad_;
  const char* function_name;
  const void* parameters;
  void* return_value;
  const char* symbol_name;
  void* context;
  uint32_t context_uid;
  uint32_t pad2_;
  uint64_t* correlation_data;
  uint32_t correlation_id;
  uint32_t pad3_;
};
static_assert(sizeof(CallbackData) == 72);
static_assert(offsetof(CallbackData, function_name) == 8);
static_assert(offsetof(CallbackData, parameters) == 16);
static_assert(offsetof(CallbackData, symbol_name) == 32);
static_assert(offsetof(CallbackData, context) == 40);
static_assert(offsetof(CallbackData, correlation_id) == 64);

struct ResourceData {
  void* context;
  void* resource;
  const void* descriptor;
};
static_assert(offsetof(ResourceData, descriptor) == 16);

struct ModuleData {
  uint32_t module_id;
  uint32_t pad_;
  size_t cubin_size;
  const char* cubin;
};
static_assert(offsetof(ModuleData, cubin_size) == 8);
static_assert(offsetof(ModuleData, cubin) == 16);

struct GraphData {
  void* graph;
  void* original_graph;
  void* node;
  void* original_node;
  uint32_t node_type;
  uint32_t pad_;
  void* dependency;
  void* exec;
};
static_assert(sizeof(GraphData) == 56);
static_assert(offsetof(GraphData, original_graph) == 8);
static_assert(offsetof(GraphData, node) == 16);
static_assert(offsetof(GraphData, original_node) == 24);
static_assert(offsetof(GraphData, node_type) == 32);
static_assert(offsetof(GraphData, exec) == 48);

struct SubscriberParams {
  size_t size;
  const char* name;
  char* holder;  // who has subscribed already
  size_t holder_size;
  uint8_t several;  // since 13.4: others may subscribe too
  uint8_t pad_[7];
};
constexpr size_t kParamsExclusive = 32;
constexpr size_t kParamsSeveral = 40;
constexpr size_t kHolderName = 64;
static_assert(sizeof(SubscriberParams) == kParamsSeveral);
static_assert(offsetof(SubscriberParams, holder) == 16);
static_assert(offsetof(SubscriberParams, several) == kParamsExclusive);

struct ActivityHead {
  uint32_t kind;
};

struct KernelRecord {
  uint32_t kind;
  uint8_t cache_config_;
  uint8_t shared_config_;
  uint16_t registers;  // per thread
  uint32_t partitioned_cache_[2];
  uint64_t start;
  uint64_t end;
  uint64_t completed_;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  int32_t grid[3];
  int32_t block[3];
  int32_t static_shared;
  int32_t dynamic_shared;
  uint32_t local_memory_[2];
  uint32_t correlation;
  int64_t grid_id_;
  const char* name;
  uint64_t reserved_[4];
  uint64_t graph_node;
  uint32_t shared_limit_;
  uint32_t graph;
};
constexpr size_t kKernelSizes[] = {160, 200, 208, 216, 224};  // of the versions from 11.1 on
static_assert(sizeof(KernelRecord) == kKernelSizes[0]);
static_assert(offsetof(KernelRecord, registers) == 6);
static_assert(offsetof(KernelRecord, start) == 16);
static_assert(offsetof(KernelRecord, end) == 24);
static_assert(offsetof(KernelRecord, device) == 40);
static_assert(offsetof(KernelRecord, stream) == 48);
static_assert(offsetof(KernelRecord, grid) == 52);
static_assert(offsetof(KernelRecord, block) == 64);
static_assert(offsetof(KernelRecord, static_shared) == 76);
static_assert(offsetof(KernelRecord, dynamic_shared) == 80);
static_assert(offsetof(KernelRecord, correlation) == 92);
static_assert(offsetof(KernelRecord, name) == 104);
static_assert(offsetof(KernelRecord, graph_node) == 144);
static_assert(offsetof(KernelRecord, graph) == 156);

struct CopyRecord {
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t src_kind;
  uint8_t dst_kind;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint32_t runtime_correlation_;
  uint32_t pad_;
  void* reserved_;
  uint64_t graph_node;
  uint32_t graph;
  uint32_t pad2_;
};
static_assert(offsetof(CopyRecord, copy_kind) == 4);
static_assert(offsetof(CopyRecord, bytes) == 8);
static_assert(offsetof(CopyRecord, start) == 16);
static_assert(offsetof(CopyRecord, end) == 24);
static_assert(offsetof(CopyRecord, device) == 32);
static_assert(offsetof(CopyRecord, stream) == 40);
static_assert(offsetof(CopyRecord, correlation) == 44);
static_assert(offsetof(CopyRecord, graph_node) == 64);
static_assert(offsetof(CopyRecord, graph) == 72);

struct SetRecord {
  uint32_t kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint16_t flags;
  uint16_t memory_kind;
  uint32_t pad_;
  void* reserved_;
  uint64_t graph_node;
  uint32_t graph;
  uint32_t pad2_;
};
static_assert(offsetof(SetRecord, bytes) == 8);
static_assert(offsetof(SetRecord, device) == 32);
static_assert(offsetof(SetRecord, correlation) == 44);
static_assert(offsetof(SetRecord, graph_node) == 64);
static_assert(offsetof(SetRecord, graph) == 72);

// A copy between two devices.
struct PeerCopyRecord {
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t src_kind;
  uint8_t dst_kind;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t src_device;
  uint32_t src_context;
  uint32_t dst_device;
  uint32_t dst_context;
  uint32_t correlation;
  void* reserved_;
  uint64_t graph_node;
  uint32_t graph;
  uint32_t pad_;
};
static_assert(offsetof(PeerCopyRecord, stream) == 40);
static_assert(offsetof(PeerCopyRecord, correlation) == 60);
static_assert(offsetof(PeerCopyRecord, graph_node) == 72);
static_assert(offsetof(PeerCopyRecord, graph) == 80);

// One replay of a graph.
struct GraphRecord {
  uint32_t kind;
  uint32_t correlation;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t graph;
  uint32_t context;
  uint32_t stream;
};
static_assert(offsetof(GraphRecord, correlation) == 4);
static_assert(offsetof(GraphRecord, start) == 8);
static_assert(offsetof(GraphRecord, end) == 16);
static_assert(offsetof(GraphRecord, device) == 24);
static_assert(offsetof(GraphRecord, graph) == 28);
static_assert(offsetof(GraphRecord, stream) == 36);

}  // namespace dctx::monitor::gpu::cupti
