#pragma once
#include <cstdint>

// How tests drive the stand-in for rocprofiler-sdk. Its version comes from
// FAKE_ROCPROFILER_VERSION.
extern "C" {
// A program calls a function of HIP: the callback at its begin and its end; what happens in between
// is the caller's. Returns what the tool pushed as external correlation, 0 for nothing.
uint64_t fake_call_begin(const char* function);
void fake_call_end(const char* function);
// A code object was loaded with a kernel.
void fake_load_kernel(uint64_t kernel, const char* symbol);
// Work of a device is done: into the buffer, delivered with the next flush or watermark.
void fake_kernel_done(uint64_t kernel, uint64_t external, uint64_t agent, uint64_t begin_ns,
                      uint64_t end_ns);
void fake_copy_done(int operation, uint64_t bytes, uint64_t external, uint64_t begin_ns,
                    uint64_t end_ns);
void fake_drop(uint64_t records);
// The next calls of this function fail with this status.
void fake_fail(const char* function, int32_t status);
uint64_t fake_now_ns();
int fake_is_running();
int fake_pushed();  // external correlations that were pushed and not popped
}
