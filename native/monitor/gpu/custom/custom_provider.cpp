#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <string>

#include "monitor/gpu/custom/device_hooks.hpp"

// Where the audit library is loaded it answers in place of this: see device_abi.hpp.
extern "C" __attribute__((visibility("default"), used, noinline)) uint32_t
dctx_device_audit_link(uint32_t, dctx::device::BeginCall, dctx::device::EndCall) {
  return 0;
}

namespace dctx::monitor::gpu {
namespace {

// Joined names of the routes that took the hooks; written by open().
std::string& connected() {
  static std::string* const names = new std::string;
  return *names;
}

// The audit library's Link, or the core's own where none is loaded; null in a program that does not
// export it.
device::Link audit_link() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<void*>(&dctx_device_audit_link), &own) == 0) return nullptr;
  void* const handle = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  return reinterpret_cast<device::Link>(dlsym(handle, device::kAuditLink));
}

void connect(const char* name, device::Link link) {
  if (link == nullptr ||
      link(device::kLinkAbi, DeviceHooks::begin_call, DeviceHooks::end_call) != device::kLinkAbi) {
    return;
  }
  std::string& names = connected();
  if (!names.empty()) names += " + ";
  names += name;
}

Status probe(const Config&, Reason&) { return Status::ok; }

Status open(const Host& host, const Config&, Reason& reason) {
  if (connected().empty()) {
    connect("LD_AUDIT", audit_link());
    connect("LD_PRELOAD",
            reinterpret_cast<device::Link>(dlsym(RTLD_DEFAULT, device::kPreloadLink)));
  }
  if (connected().empty()) {
    std::snprintf(reason.text, sizeof reason.text,
                  "this process was not started with the hooks of the device file");
    return Status::no_library;
  }
  // Calls are recorded in the children of a fork too, whose counts begin with 0.
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { DeviceHooks::instance().forked(); });
  static_cast<void>(registered);
  DeviceHooks::instance().open(host);
  return Status::ok;
}

Status start(Reason&) {
  DeviceHooks::instance().start();
  return Status::ok;
}

Status stop() {
  DeviceHooks::instance().stop();
  return Status::ok;
}

Status flush(bool) { return Status::ok; }  // work is told when its call returns

Status clock_sync(ClockPair*, size_t, size_t& count) {
  count = 0;  // times are the host's
  return Status::ok;
}

}  // namespace

const Provider* custom_provider() {
  static const Provider provider = [] {
    Provider table;
    table.name = "custom";
    table.probe = probe;
    table.open = open;
    table.start = start;
    table.stop = stop;
    table.close = stop;
    table.flush = flush;
    table.clock_sync = clock_sync;
    table.caps = [] { return uint32_t{kKernels | kCopies}; };
    table.version = [] { return connected().c_str(); };
    table.forked = [] { DeviceHooks::instance().forked(); };
    return table;
  }();
  return &provider;
}

}  // namespace dctx::monitor::gpu
