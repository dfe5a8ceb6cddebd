#include "monitor/torch/memory.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <memory>

#include "monitor/engine/registry.hpp"

namespace dctx::monitor {
namespace {

// c10::Device: two bytes.
struct Device {
  int8_t type;
  int8_t index;
};

// The virtual functions of torch::profiler::impl::ProfilerStateBase, in their order: torch takes
// whatever is in the place for one. What lies behind them in its objects is read as well: all zero
// it is a profiler that is switched off.
class Reporter {
 public:
  Reporter() = default;
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;
  virtual ~Reporter() = default;
  virtual void report(void* address, int64_t bytes, size_t in_use, size_t reserved, Device device);
  virtual void report_failure(int64_t, size_t, size_t, Device) {}
  virtual bool enabled() const;
  virtual int profiler_type() { return 0; }

 private:
  std::array<char, 1024> state_{};
};

using Shared = std::shared_ptr<Reporter>;

struct Symbols {
  const void* kind = nullptr;  // c10::DebugInfoKind::PROFILER_STATE: itself a pointer
  void* (*get)(const void* kind) = nullptr;
  void (*push)(const void* kind, Shared info) = nullptr;
  Shared (*pop)(const void* kind) = nullptr;
  void (*force)(std::shared_ptr<void> all) = nullptr;
};

Symbols symbols;
std::atomic<bool> running{false};
std::atomic<bool> yielded{false};
// Never destroyed: threads that end after all else may still report.
thread_local std::vector<TorchMemory::Report>* probe = nullptr;

const Shared& reporter() {
  static const Shared* const shared = new Shared(new Reporter, [](Reporter*) {});
  return *shared;
}

bool Reporter::enabled() const {
  return probe != nullptr ||
         (running.load(std::memory_order_relaxed) && Registry::instance().active());
}

// Called by torch's allocators, on the thread that allocates. Memory may be out: the report is
// lost then.
void Reporter::report(void*, int64_t bytes, size_t in_use, size_t, Device device) {
  try {
    if (probe != nullptr) {
      probe->push_back({bytes, device.type, device.index});
      return;
    }
    Registry& registry = Registry::instance();
    ThreadRecord* const record = registry.active() ? registry.current() : nullptr;
    if (record == nullptr) return;
    uint32_t node = 0;
    if (!record->open.empty()) {
      const OpenEvent& around = record->open.back();
      node = around.node != kNoNode ? around.node : around.base;
    }
    record->allocations.add(node, device.type, device.index, bytes, static_cast<int64_t>(in_use));
    if (device.type != 0) {  // not the CPU's
      registry.steps().memory_in_use(device.index, static_cast<int64_t>(in_use));
    }
  } catch (...) {
    Registry::instance().losses().add(Loss::drops);
  }
}

template <class Function>
bool find_symbol(void* library, const char* name, Function* out, std::string* reason) {
  void* const address = dlsym(library, name);
  if (address == nullptr) *reason = std::string("libc10.so has no ") + name;
  *out = reinterpret_cast<Function>(address);
  return address != nullptr;
}

struct Close {
  void operator()(void* library) const { dlclose(library); }
};

void tell_threads() { engine_state.memory = running && !yielded; }

}  // namespace

bool TorchMemory::find(std::string* reason) {
  if (symbols.push != nullptr) return true;
  const std::unique_ptr<void, Close> library(
      dlopen("libc10.so", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD));
  if (library == nullptr) {
    *reason = "torch is not loaded in this process";
    return false;
  }
  Symbols found;
  const void* const* kind = nullptr;
  if (!find_symbol(library.get(), "_ZN3c1013DebugInfoKind14PROFILER_STATEE", &kind, reason) ||
      !find_symbol(library.get(), "_ZN3c1020ThreadLocalDebugInfo3getENS_13DebugInfoKindE",
                   &found.get, reason) ||
      !find_symbol(library.get(),
                   "_ZN3c1020ThreadLocalDebugInfo5_pushENS_13DebugInfoKindESt10shared_ptrINS_"
                   "13DebugInfoBaseEE",
                   &found.push, reason) ||
      !find_symbol(library.get(), "_ZN3c1020ThreadLocalDebugInfo4_popENS_13DebugInfoKindE",
                   &found.pop, reason) ||
      !find_symbol(library.get(),
                   "_ZN3c1020ThreadLocalDebugInfo22_forceCurrentDebugInfoESt10shared_ptrIS0_E",
                   &found.force, reason)) {
    return false;
  }
  found.kind = *kind;
  symbols = found;
  return true;
}

void TorchMemory::start() {
  running = true;
  tell_threads();
}

// The place stays taken: other threads cannot be told. Nothing is reported any more.
void TorchMemory::stop() {
  running = false;
  tell_threads();
}

void TorchMemory::listen() {
  if (symbols.get(symbols.kind) == nullptr) symbols.push(symbols.kind, reporter());
}

void TorchMemory::yield() {
  yielded = true;
  tell_threads();
  if (symbols.get == nullptr || symbols.get(symbols.kind) != reporter().get()) return;
  try {
    symbols.pop(symbols.kind);
  } catch (...) {
    // Something was put on top of ours: all of it goes, else the program's profiler would fail.
    symbols.force(nullptr);
  }
}

void TorchMemory::resume() {
  yielded = false;
  tell_threads();
}

void TorchMemory::begin_probe() {
  probe = new std::vector<Report>;
  listen();
}

std::vector<TorchMemory::Report> TorchMemory::end_probe() {
  const std::unique_ptr<std::vector<Report>> told(probe);
  probe = nullptr;
  return told != nullptr ? *told : std::vector<Report>();
}

}  // namespace dctx::monitor
