#pragma once
#include <cstdint>

#include "monitor/gpu/cupti/abi.hpp"
#include "monitor/gpu/provider.hpp"

namespace dctx::monitor::gpu::cupti {

enum class Parsed : uint8_t { work, no_time, other };

// Reads a record of any version. `offset_ns` is added to its times. `other`: of a kind that tells
// of no work. `no_time`: of work whose begin or end is not known.
Parsed parse(const ActivityHead& record, int64_t offset_ns, WorkRecord& out);

}  // namespace dctx::monitor::gpu::cupti
