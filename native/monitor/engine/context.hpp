#pragma once
#include <cstdint>

#include "monitor/engine/registry.hpp"

namespace dctx::monitor {

// Where something happened: a node of a thread's store, in 64 bits, and which trees it is of.
struct PackedContext {
  uint64_t bits = 0;

  static PackedContext of(uint32_t thread, uint32_t epoch, uint32_t node) {
    return {uint64_t{thread & 0xffffU} << 48 | uint64_t{epoch & 0xffU} << 40 | node};
  }
  uint32_t thread() const { return static_cast<uint32_t>(bits >> 48); }
  uint32_t epoch() const { return static_cast<uint32_t>(bits >> 40) & 0xffU; }
  uint64_t node() const { return bits & 0xffffffffffULL; }
  bool known() const { return bits != kUnknown; }

  static constexpr uint64_t kUnknown = ~uint64_t{0};
};

// What to capture; the bits of the C interface.
enum Source : uint32_t {
  kPython = 1,
  kFramework = 2,
  kNative = 4,
  kGpu = 8,
  kInstruction = 16,
  kScope = 32,
};

// The calling thread's current call path: the innermost open event and, with kPython in
// `sources`, the Python frames that run inside it but for the innermost `skip`. Not known() while
// nothing is recorded. Never throws; allocates only for a path not met before.
PackedContext context_now(uint32_t sources, uint32_t skip = 0);

}  // namespace dctx::monitor
