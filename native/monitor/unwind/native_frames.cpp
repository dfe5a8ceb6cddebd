#include "monitor/unwind/native_frames.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <array>

#include "monitor/engine/thread_record.hpp"
#include "monitor/unwind/module_map.hpp"
#include "tree/hash.hpp"

namespace dctx::monitor {
namespace {

constexpr size_t kMaxFrames = 128;
constexpr int kMaxAddresses = 512;
constexpr int kFewAddresses = 16;

using Backtrace = int (*)(void** buffer, int size);
Backtrace fast_backtrace = nullptr;  // set before the source is

struct Walk {
  uintptr_t inner;
  uintptr_t outer;  // 0: no limit
  size_t count = 0;
  std::array<uint64_t, kMaxFrames> labels{};  // innermost first
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* user) {
  auto& walk = *static_cast<Walk*>(user);
  // The stack pointer of this frame while it calls the inner one. The frame that holds an event's
  // object, and those it called, lie at or below the object.
  const auto stack = static_cast<uintptr_t>(_Unwind_GetCFA(context));
  if (stack <= walk.inner) return _URC_NO_REASON;
  if (walk.outer != 0 && stack > walk.outer) return _URC_END_OF_STACK;
  int before = 0;
  const auto next = static_cast<uintptr_t>(_Unwind_GetIPInfo(context, &before));
  Located located{};
  // A return address may be the first of what follows the call: the call itself is meant.
  if (next == 0 || !ModuleMap::instance().locate(before != 0 ? next : next - 1, &located)) {
    return _URC_NO_REASON;
  }
  if (located.role == ModuleRole::own) return _URC_NO_REASON;
  if (located.role == ModuleRole::interpreter || walk.count == kMaxFrames) return _URC_END_OF_STACK;
  walk.labels[walk.count++] = native_label(located.module, located.offset);
  return _URC_NO_REASON;
}

uint32_t path(ThreadRecord& record, uint32_t parent, const void* inner, const void* outer) {
  Walk walk{reinterpret_cast<uintptr_t>(inner), reinterpret_cast<uintptr_t>(outer)};
  _Unwind_Backtrace(visit, &walk);
  uint32_t node = parent;
  for (size_t i = walk.count; i-- > 0;) {
    node = record.store.child(node, NodeKind::native, walk.labels[i], 0);
  }
  return node;
}

// How many addresses, innermost first, lie before the interpreter's: what lies beyond says nothing
// about the path.
int before_interpreter(const std::array<void*, kMaxAddresses>& addresses, int depth,
                       AddressRange interpreter) {
  for (int i = 0; i < depth; ++i) {
    if (interpreter.holds(reinterpret_cast<uintptr_t>(addresses[static_cast<size_t>(i)]))) return i;
  }
  return depth;
}

// The return addresses up to the interpreter are read each time; they and the context tell the
// frames, so that only a stack not met before is looked at frame by frame. The key is 128 bits of
// hash and the depth.
uint32_t exact_path(ThreadRecord& record, uint32_t parent, const void* inner, const void* outer) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  constexpr uint64_t kOther = 0xd6e8feb86659fd93ULL;
  const AddressRange interpreter = ModuleMap::instance().interpreter();
  std::array<void*, kMaxAddresses> addresses;
  // As deep as this thread's stacks usually are before the interpreter comes; deeper when it does
  // not: the library begins at the leaf each time.
  int asked = std::clamp(record.native_depth, kFewAddresses, kMaxAddresses);
  int used = 0;
  for (;; asked = std::min(asked * 2, kMaxAddresses)) {
    const int depth = fast_backtrace(addresses.data(), asked);
    used = before_interpreter(addresses, depth, interpreter);
    if (used < depth || depth < asked || asked == kMaxAddresses) break;
  }
  record.native_depth = std::max(used + 4, record.native_depth - 1);
  uint64_t key = mix_bits(parent);
  uint64_t check = parent;
  for (int i = 0; i < used; ++i) {
    const auto address = reinterpret_cast<uintptr_t>(addresses[static_cast<size_t>(i)]);
    key = (key ^ address) * kFactor;
    check = (check + address) * kOther;
  }
  key = mix_bits(key);
  const auto* const second = reinterpret_cast<const void*>(check);
  const auto length = static_cast<uint32_t>(used);
  const uint32_t known = record.native_places.find(key, length, second);
  if (known != kNoNode) return known;
  const uint32_t node = path(record, parent, inner, outer);
  record.native_places.insert(key, length, second, node);
  return node;
}

}  // namespace

NativeSource native_frames() { return path; }

NativeSource fast_native_frames(std::string* reason) {
  if (fast_backtrace == nullptr) {
    void* library = nullptr;
    for (const char* const name : {"libunwind.so.8", "libunwind.so"}) {
      // Never closed: hooks call into it until the process ends.
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    void* const found = library != nullptr ? dlsym(library, "unw_backtrace") : nullptr;
    fast_backtrace = reinterpret_cast<Backtrace>(found);
  }
  if (fast_backtrace != nullptr) return exact_path;
  *reason = "there is no libunwind.so.8 with unw_backtrace (Debian: apt install libunwind8)";
  return nullptr;
}

uint64_t function_label(uintptr_t instruction) {
  // It looks before the address that it is given, which is usually that after a call.
  void* const start = _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(instruction + 1));
  const uintptr_t at = start != nullptr ? reinterpret_cast<uintptr_t>(start) : instruction;
  Located located{};
  if (!ModuleMap::instance().locate(at, &located)) return ~uint64_t{0};
  return native_label(located.module, located.offset);
}

}  // namespace dctx::monitor
