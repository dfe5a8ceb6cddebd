#pragma once
#include <cstdint>

#include "monitor/gpu/cupti/abi.hpp"
#include "monitor/gpu/provider.hpp"

namespace dctx::monitor::gpu::cupti {

struct CallbackId {
  Domain domain;
  uint32_t id;
  ApiKind kind;
};

// The functions that are watched: those that give a device work, that wait for it, or that ask for
// memory. Most have a twin for a thread's own default stream. A CUPTI that lacks one refuses it.
constexpr CallbackId kCallbackIds[] = {
    {kRuntimeApi, 211, ApiKind::launch},        // cudaLaunchKernel
    {kRuntimeApi, 214, ApiKind::launch},        //
    {kRuntimeApi, 430, ApiKind::launch},        // cudaLaunchKernelExC
    {kRuntimeApi, 431, ApiKind::launch},        //
    {kRuntimeApi, 269, ApiKind::launch},        // cudaLaunchCooperativeKernel
    {kRuntimeApi, 270, ApiKind::launch},        //
    {kRuntimeApi, 311, ApiKind::graph_launch},  // cudaGraphLaunch
    {kRuntimeApi, 312, ApiKind::graph_launch},  //
    {kRuntimeApi, 31, ApiKind::copy},           // cudaMemcpy
    {kRuntimeApi, 215, ApiKind::copy},          //
    {kRuntimeApi, 41, ApiKind::copy},           // cudaMemcpyAsync
    {kRuntimeApi, 225, ApiKind::copy},          //
    {kRuntimeApi, 44, ApiKind::copy},           // cudaMemcpy2DAsync
    {kRuntimeApi, 228, ApiKind::copy},          //
    {kRuntimeApi, 161, ApiKind::copy},          // cudaMemcpyPeerAsync
    {kRuntimeApi, 49, ApiKind::set},            // cudaMemset
    {kRuntimeApi, 51, ApiKind::set},            // cudaMemsetAsync
    {kRuntimeApi, 235, ApiKind::set},           //
    {kRuntimeApi, 131, ApiKind::synchronize},   // cudaStreamSynchronize
    {kRuntimeApi, 239, ApiKind::synchronize},   //
    {kRuntimeApi, 137, ApiKind::synchronize},   // cudaEventSynchronize
    {kRuntimeApi, 165, ApiKind::synchronize},   // cudaDeviceSynchronize
    {kRuntimeApi, 20, ApiKind::allocate},       // cudaMalloc
    {kDriverApi, 307, ApiKind::launch},         // cuLaunchKernel
    {kDriverApi, 442, ApiKind::launch},         //
    {kDriverApi, 652, ApiKind::launch},         // cuLaunchKernelEx
    {kDriverApi, 653, ApiKind::launch},         //
    {kDriverApi, 477, ApiKind::launch},         // cuLaunchCooperativeKernel
    {kDriverApi, 478, ApiKind::launch},         //
    {kDriverApi, 514, ApiKind::graph_launch},   // cuGraphLaunch
    {kDriverApi, 515, ApiKind::graph_launch},   //
    {kDriverApi, 276, ApiKind::copy},           // cuMemcpyHtoD
    {kDriverApi, 397, ApiKind::copy},           //
    {kDriverApi, 277, ApiKind::copy},           // cuMemcpyHtoDAsync
    {kDriverApi, 421, ApiKind::copy},           //
    {kDriverApi, 278, ApiKind::copy},           // cuMemcpyDtoH
    {kDriverApi, 398, ApiKind::copy},           //
    {kDriverApi, 279, ApiKind::copy},           // cuMemcpyDtoHAsync
    {kDriverApi, 422, ApiKind::copy},           //
    {kDriverApi, 281, ApiKind::copy},           // cuMemcpyDtoDAsync
    {kDriverApi, 423, ApiKind::copy},           //
    {kDriverApi, 306, ApiKind::copy},           // cuMemcpyAsync
    {kDriverApi, 418, ApiKind::copy},           //
    {kDriverApi, 216, ApiKind::set},            // cuMemsetD8Async
    {kDriverApi, 428, ApiKind::set},            //
    {kDriverApi, 220, ApiKind::set},            // cuMemsetD32Async
    {kDriverApi, 430, ApiKind::set},            //
};

constexpr ResourceId kResourceIds[] = {
    kModuleLoaded,    kModuleUnloadStarting,     kGraphNodeCreated,
    kGraphNodeCloned, kGraphNodeDestroyStarting, kGraphExecDestroyStarting,
    kContextCreated,  kContextDestroyStarting};

}  // namespace dctx::monitor::gpu::cupti
