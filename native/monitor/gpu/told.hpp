#pragma once
#include <cstdint>

#include "monitor/gpu/provider.hpp"
#include "monitor/gpu/work_table.hpp"

namespace dctx::monitor::gpu {

// The call of a device's interface that a thread is in. Told apart from that of an earlier
// recording by the generation: its end is of no interest any more.
struct OpenCall {
  uint32_t depth;
  uint32_t generation;
  uint64_t context;
  int64_t begin_ns;  // known while somebody listens
};

// Tell listeners, on the calling thread. Neither throws.
void tell_call(const ApiCall& call, OpenCall& open, bool begins) noexcept;
void tell_work(const WorkRecord& record, const WorkKey& key);

}  // namespace dctx::monitor::gpu
