// The driver of a device that is not there: what tests of configured devices call.
#include <stdint.h>

#define NPU_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
int calls = 0;
}

NPU_EXPORT int npuCalls() { return calls; }

NPU_EXPORT int npuLaunch(const char* name, void*, uint64_t bytes, void*) {
  ++calls;
  return name != nullptr ? static_cast<int>(bytes % 7) : -1;
}
// Twelve arguments, half of them on the stack, of both kinds: their sum.
NPU_EXPORT double npuMany(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f,
                          int64_t on_stack, double g, const char* name, double h, uint64_t bytes,
                          int32_t last) {
  ++calls;
  return static_cast<double>(a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + on_stack * 7 +
                             static_cast<int64_t>(bytes) * 8 + last * 9) +
         g + h + (name != nullptr ? 0.5 : 0);
}
NPU_EXPORT int npuCopy(void*, const void*, uint64_t, void*) {
  ++calls;
  return 0;
}
NPU_EXPORT int npuSync(void*) {
  ++calls;
  return 0;
}
NPU_EXPORT void* npuAlloc(uint64_t) {
  ++calls;
  return &calls;
}
// Not in the table: launches from inside the library.
NPU_EXPORT int npuRun(const char* name) { return npuLaunch(name, nullptr, 0, nullptr); }
// In the table, and calls another that is.
NPU_EXPORT int npuOuter(const char* name) { return npuLaunch(name, nullptr, 0, nullptr); }
// Calls what it is given: for a callback that never returns here.
NPU_EXPORT int npuCallback(void (*function)(void*), void* data) {
  ++calls;
  function(data);
  return 0;
}
