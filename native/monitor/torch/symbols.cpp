#include "monitor/torch/symbols.hpp"

#include <dlfcn.h>

#include <memory>

namespace dctx::monitor {
namespace {

struct Close {
  void operator()(void* library) const { dlclose(library); }
};

template <class Function>
bool find(void* library, const char* symbol, Function* out, const void** base,
          std::string* reason) {
  void* const address = dlsym(library, symbol);
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0) {
    *reason = std::string("libtorch_cpu.so has no ") + symbol;
    return false;
  }
  if (*base != nullptr && *base != info.dli_fbase) {
    *reason = std::string(symbol) + " comes from another library, " + info.dli_fname;
    return false;
  }
  *base = info.dli_fbase;
  *out = reinterpret_cast<Function>(address);
  return true;
}

}  // namespace

TorchSymbols find_torch(std::string* reason) {
#ifdef __linux__
  // Never loads torch: the handle only counts as a use while this looks.
  const std::unique_ptr<void, Close> library(
      dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD));
  if (library == nullptr) {
    *reason = "torch is not loaded in this process";
    return {};
  }
  TorchSymbols found;
  const void* base = nullptr;
  if (find(library.get(), "_ZNK2at14RecordFunction4nameEv", &found.name, &base, reason) &&
      find(library.get(), "_ZN2at14RecordFunction15currentThreadIdEv", &found.thread_id, &base,
           reason) &&
      find(library.get(), "_ZN2at15sequence_number4peekEv", &found.peek_sequence, &base, reason) &&
      find(library.get(), "_ZN2at14removeCallbackEm", &found.remove_callback, &base, reason) &&
      find(library.get(), "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE",
           &found.add_callback, &base, reason)) {
    std::string lacking;
    find(library.get(), "_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb",
         &found.input_sizes, &base, &lacking);
#if _GLIBCXX_USE_CXX11_ABI
    // The name itself tells the layout of the strings that it returns.
    find(library.get(), "_ZN5torch8profiler4impl10inputTypesB5cxx11ERKN2at14RecordFunctionE",
         &found.input_types, &base, &lacking);
#endif
    return found;
  }
#else
  *reason = "live recording needs Linux";
#endif
  return {};
}

}  // namespace dctx::monitor
