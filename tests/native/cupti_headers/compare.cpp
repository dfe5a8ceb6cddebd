// Compares our declarations of CUPTI with NVIDIA's own headers, at compile time. For developers who
// have them: cmake -DDCTX_CUPTI_INCLUDE="<include of nvidia-cuda-cupti>;<of nvidia-cuda-runtime>".
#include <cupti.h>
#if __has_include(<cupti_activity_deprecated.h>)
#include <cupti_activity_deprecated.h>
#endif

#include <type_traits>

#include "monitor/gpu/cupti/abi.hpp"
#include "monitor/gpu/cupti/callback_ids.hpp"

namespace ours = dctx::monitor::gpu::cupti;

#define SAME_PLACE(Ours, field, Theirs, their_field)                           \
  static_assert(offsetof(ours::Ours, field) == offsetof(Theirs, their_field)); \
  static_assert(sizeof(ours::Ours::field) == sizeof(Theirs::their_field))
#define SAME_VALUE(value, theirs) \
  static_assert(static_cast<long>(ours::value) == static_cast<long>(theirs))

SAME_VALUE(kInvalidOperation, CUPTI_ERROR_INVALID_OPERATION);
SAME_VALUE(kOutOfMemory, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_VALUE(kNoMoreRecords, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME_VALUE(kNotInitialized, CUPTI_ERROR_NOT_INITIALIZED);
SAME_VALUE(kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME_VALUE(kMultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_VALUE(kVirtualizedPrivileges, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME_VALUE(kUnknown, CUPTI_ERROR_UNKNOWN);

SAME_VALUE(kDriverApi, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_VALUE(kRuntimeApi, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME_VALUE(kResource, CUPTI_CB_DOMAIN_RESOURCE);
SAME_VALUE(kEnter, CUPTI_API_ENTER);
SAME_VALUE(kExit, CUPTI_API_EXIT);
SAME_VALUE(kContextCreated, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
SAME_VALUE(kModuleLoaded, CUPTI_CBID_RESOURCE_MODULE_LOADED);
SAME_VALUE(kModuleUnloadStarting, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
SAME_VALUE(kGraphNodeCreated, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME_VALUE(kGraphNodeDestroyStarting, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
SAME_VALUE(kGraphExecCreated, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
SAME_VALUE(kGraphExecDestroyStarting, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
SAME_VALUE(kGraphNodeCloned, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
SAME_VALUE(kMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME_VALUE(kMemset, CUPTI_ACTIVITY_KIND_MEMSET);
SAME_VALUE(kKernel, CUPTI_ACTIVITY_KIND_KERNEL);
SAME_VALUE(kConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME_VALUE(kOverhead, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME_VALUE(kMemcpyPeer, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME_VALUE(kSynchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME_VALUE(kExternalCorrelation, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
SAME_VALUE(kMemory2, CUPTI_ACTIVITY_KIND_MEMORY2);
SAME_VALUE(kGraphTrace, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);

static_assert(sizeof(ours::CallbackData) == sizeof(CUpti_CallbackData));
SAME_PLACE(CallbackData, site, CUpti_CallbackData, callbackSite);
SAME_PLACE(CallbackData, function_name, CUpti_CallbackData, functionName);
SAME_PLACE(CallbackData, parameters, CUpti_CallbackData, functionParams);
SAME_PLACE(CallbackData, symbol_name, CUpti_CallbackData, symbolName);
SAME_PLACE(CallbackData, context, CUpti_CallbackData, context);
SAME_PLACE(CallbackData, correlation_id, CUpti_CallbackData, correlationId);
SAME_PLACE(ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME_PLACE(ModuleData, module_id, CUpti_ModuleResourceData, moduleId);
SAME_PLACE(ModuleData, cubin_size, CUpti_ModuleResourceData, cubinSize);
SAME_PLACE(ModuleData, cubin, CUpti_ModuleResourceData, pCubin);
static_assert(sizeof(ours::GraphData) == sizeof(CUpti_GraphData));
SAME_PLACE(GraphData, graph, CUpti_GraphData, graph);
SAME_PLACE(GraphData, original_graph, CUpti_GraphData, originalGraph);
SAME_PLACE(GraphData, node, CUpti_GraphData, node);
SAME_PLACE(GraphData, original_node, CUpti_GraphData, originalNode);
SAME_PLACE(GraphData, exec, CUpti_GraphData, graphExec);

#define SAME_KERNEL(Theirs)                                                       \
  static_assert(sizeof(Theirs) >= sizeof(ours::KernelRecord));                    \
  SAME_PLACE(KernelRecord, kind, Theirs, kind);                                   \
  SAME_PLACE(KernelRecord, registers, Theirs, registersPerThread);                \
  SAME_PLACE(KernelRecord, start, Theirs, start);                                 \
  SAME_PLACE(KernelRecord, end, Theirs, end);                                     \
  SAME_PLACE(KernelRecord, device, Theirs, deviceId);                             \
  SAME_PLACE(KernelRecord, stream, Theirs, streamId);                             \
  static_assert(offsetof(ours::KernelRecord, grid) == offsetof(Theirs, gridX));   \
  static_assert(offsetof(ours::KernelRecord, block) == offsetof(Theirs, blockX)); \
  SAME_PLACE(KernelRecord, static_shared, Theirs, staticSharedMemory);            \
  SAME_PLACE(KernelRecord, dynamic_shared, Theirs, dynamicSharedMemory);          \
  SAME_PLACE(KernelRecord, correlation, Theirs, correlationId);                   \
  SAME_PLACE(KernelRecord, name, Theirs, name);                                   \
  SAME_PLACE(KernelRecord, graph_node, Theirs, graphNodeId);                      \
  SAME_PLACE(KernelRecord, graph, Theirs, graphId)

#define SAME_MOVED(Ours, Theirs)                        \
  static_assert(sizeof(Theirs) >= sizeof(ours::Ours));  \
  SAME_PLACE(Ours, kind, Theirs, kind);                 \
  SAME_PLACE(Ours, bytes, Theirs, bytes);               \
  SAME_PLACE(Ours, start, Theirs, start);               \
  SAME_PLACE(Ours, end, Theirs, end);                   \
  SAME_PLACE(Ours, device, Theirs, deviceId);           \
  SAME_PLACE(Ours, stream, Theirs, streamId);           \
  SAME_PLACE(Ours, correlation, Theirs, correlationId); \
  SAME_PLACE(Ours, graph_node, Theirs, graphNodeId);    \
  SAME_PLACE(Ours, graph, Theirs, graphId)

#define SAME_GRAPH(Theirs)                                     \
  SAME_PLACE(GraphRecord, correlation, Theirs, correlationId); \
  SAME_PLACE(GraphRecord, start, Theirs, start);               \
  SAME_PLACE(GraphRecord, end, Theirs, end);                   \
  SAME_PLACE(GraphRecord, device, Theirs, deviceId);           \
  SAME_PLACE(GraphRecord, graph, Theirs, graphId);             \
  SAME_PLACE(GraphRecord, stream, Theirs, streamId)

SAME_KERNEL(CUpti_ActivityKernel7);
SAME_KERNEL(CUpti_ActivityKernel8);
SAME_MOVED(CopyRecord, CUpti_ActivityMemcpy5);
SAME_MOVED(SetRecord, CUpti_ActivityMemset4);
SAME_MOVED(PeerCopyRecord, CUpti_ActivityMemcpyPtoP4);
SAME_PLACE(CopyRecord, copy_kind, CUpti_ActivityMemcpy5, copyKind);
SAME_PLACE(PeerCopyRecord, copy_kind, CUpti_ActivityMemcpyPtoP4, copyKind);
SAME_GRAPH(CUpti_ActivityGraphTrace);

#if CUPTI_API_VERSION >= 26
SAME_KERNEL(CUpti_ActivityKernel9);
SAME_MOVED(CopyRecord, CUpti_ActivityMemcpy6);
SAME_GRAPH(CUpti_ActivityGraphTrace2);
SAME_VALUE(kKernelSizes[2], sizeof(CUpti_ActivityKernel9));
#endif
#if CUPTI_API_VERSION >= 130'000
SAME_KERNEL(CUpti_ActivityKernel10);
SAME_VALUE(kKernelSizes[3], sizeof(CUpti_ActivityKernel10));
SAME_PLACE(SubscriberParams, size, CUpti_SubscriberParams, structSize);
SAME_PLACE(SubscriberParams, name, CUpti_SubscriberParams, subscriberName);
SAME_PLACE(SubscriberParams, holder, CUpti_SubscriberParams, oldSubscriberName);
SAME_PLACE(SubscriberParams, holder_size, CUpti_SubscriberParams, oldSubscriberSize);
#endif
#if CUPTI_API_VERSION >= 130'400
SAME_KERNEL(CUpti_ActivityKernel13);
SAME_MOVED(CopyRecord, CUpti_ActivityMemcpy7);
SAME_MOVED(SetRecord, CUpti_ActivityMemset5);
SAME_VALUE(kParamsSeveral, sizeof(CUpti_SubscriberParams));
SAME_PLACE(SubscriberParams, several, CUpti_SubscriberParams, allowMultipleSubscribers);
#endif

namespace {

constexpr bool watched(ours::Domain domain, long id, dctx::monitor::gpu::ApiKind kind) {
  for (const ours::CallbackId& known : ours::kCallbackIds) {
    if (known.domain == domain && known.id == id) return known.kind == kind;
  }
  return false;
}

}  // namespace

using dctx::monitor::gpu::ApiKind;
#define WATCHED(domain, id, kind) static_assert(watched(ours::domain, CUPTI_##id, ApiKind::kind))

WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, launch);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000, launch);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, launch);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060, launch);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000, launch);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000, launch);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, graph_launch);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000, graph_launch);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaMemcpy_v3020, copy);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000, copy);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, copy);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000, copy);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_v3020, copy);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_ptsz_v7000, copy);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaMemcpyPeerAsync_v4000, copy);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaMemset_v3020, set);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, set);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaMemsetAsync_ptsz_v7000, set);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, synchronize);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000, synchronize);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020, synchronize);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, synchronize);
WATCHED(kRuntimeApi, RUNTIME_TRACE_CBID_cudaMalloc_v3020, allocate);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuLaunchKernel, launch);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, launch);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuLaunchKernelEx, launch);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, launch);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, launch);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, launch);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuGraphLaunch, graph_launch);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, graph_launch);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, copy);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds, copy);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, copy);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz, copy);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, copy);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds, copy);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, copy);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz, copy);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, copy);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz, copy);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemcpyAsync, copy);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz, copy);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemsetD8Async, set);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz, set);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemsetD32Async, set);
WATCHED(kDriverApi, DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz, set);

// The functions are called through these types.
static_assert(std::is_same_v<decltype(cuptiActivityFlushAll), CUptiResult(uint32_t)>);
static_assert(sizeof(CUptiResult) == sizeof(ours::Result));
