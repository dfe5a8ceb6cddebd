#include "monitor/gpu/rocprofiler/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace dctx::monitor::gpu::rocprofiler {
namespace {

constexpr const char* kNames[] = {"librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0",
                                  "librocprofiler-sdk.so", "/opt/rocm/lib/librocprofiler-sdk.so"};

void* open(const char* path, int flags) { return dlopen(path, RTLD_NOW | RTLD_LOCAL | flags); }

void* open_first(const char* candidates, Reason& reason) {
  for (const char* name : kNames) {
    if (void* const handle = open(name, RTLD_NOLOAD); handle != nullptr) return handle;
  }
  const char* const asked = std::getenv("DCTX_ROCPROFILER_LIB");
  if (asked != nullptr && asked[0] != '\0') {
    void* const handle = open(asked, 0);
    if (handle == nullptr) {
      std::snprintf(reason.text, sizeof reason.text, "DCTX_ROCPROFILER_LIB cannot be loaded: %s",
                    dlerror());
    }
    return handle;
  }
  std::string_view rest = candidates != nullptr ? candidates : "";
  while (!rest.empty()) {
    const std::string path(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), path.size() + 1));
    if (path.empty()) continue;
    if (void* const handle = open(path.c_str(), 0); handle != nullptr) return handle;
  }
  for (const char* name : kNames) {
    if (void* const handle = open(name, 0); handle != nullptr) return handle;
  }
  tell(reason,
       "no librocprofiler-sdk was found: it comes with ROCm 6.2 or newer; DCTX_ROCPROFILER_LIB "
       "names another place");
  return nullptr;
}

template <class Function>
bool find(void* library, const char* name, Function& place, Reason& reason) {
  void* const address = dlsym(library, name);
  static_assert(sizeof address == sizeof place);
  std::memcpy(&place, &address, sizeof place);
  if (address == nullptr) {
    std::snprintf(reason.text, sizeof reason.text, "librocprofiler-sdk has no function %s", name);
  }
  return address != nullptr;
}

}  // namespace

void tell(Reason& reason, const char* text) {
  std::snprintf(reason.text, sizeof reason.text, "%s", text);
}

Status load(const char* candidates, Functions& functions, Reason& reason) {
  if (functions.force_configure != nullptr) return Status::ok;
  void* const library = open_first(candidates, reason);
  if (library == nullptr) return Status::no_library;
  Functions f;
  const bool whole =
      find(library, "rocprofiler_create_context", f.create_context, reason) &&
      find(library, "rocprofiler_start_context", f.start_context, reason) &&
      find(library, "rocprofiler_stop_context", f.stop_context, reason) &&
      find(library, "rocprofiler_create_buffer", f.create_buffer, reason) &&
      find(library, "rocprofiler_flush_buffer", f.flush_buffer, reason) &&
      find(library, "rocprofiler_configure_callback_tracing_service", f.callback_tracing, reason) &&
      find(library, "rocprofiler_configure_buffer_tracing_service", f.buffer_tracing, reason) &&
      find(library, "rocprofiler_query_callback_tracing_kind_operation_name", f.operation_name,
           reason) &&
      find(library, "rocprofiler_push_external_correlation_id", f.push_correlation, reason) &&
      find(library, "rocprofiler_pop_external_correlation_id", f.pop_correlation, reason) &&
      find(library, "rocprofiler_get_timestamp", f.timestamp, reason) &&
      find(library, "rocprofiler_query_available_agents", f.agents, reason) &&
      find(library, "rocprofiler_force_configure", f.force_configure, reason);
  if (!whole) return Status::no_symbols;
  functions = f;
  return Status::ok;
}

}  // namespace dctx::monitor::gpu::rocprofiler
