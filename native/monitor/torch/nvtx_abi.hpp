#pragma once
#include <cstddef>
#include <cstdint>

// What NVTX 3 hands to a library that NVTX_INJECTION64_PATH names: as far as it is used, as
// documented. Numbers and order are fixed for all of version 3.
namespace dctx::monitor::nvtx {

using Function = void (*)();
// Of one module: where the calling library keeps the function that it calls, by number.
using FunctionTable = Function**;

enum ExportTable : uint32_t { kCallbacks = 1 };
enum Module : int { kCore = 1 };  // functions without a domain
enum Core : unsigned { kRangePushEx = 8, kRangePushA = 9, kRangePushW = 10, kRangePop = 11 };

struct Callbacks {
  size_t struct_size;
  // Nonzero when there is such a module; `size` is the number of its functions.
  int (*module_functions)(Module module, FunctionTable* table, unsigned* size);
};

using GetExportTable = const void* (*)(uint32_t table);

}  // namespace dctx::monitor::nvtx
