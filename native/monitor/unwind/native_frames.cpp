#include "monitor/unwind/native_frames.hpp"

#include <unwind.h>

#include <array>

#include "monitor/unwind/module_map.hpp"

namespace dctx::monitor {
namespace {

constexpr size_t kMaxFrames = 128;

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

}  // namespace

NativeSource native_frames() { return path; }

}  // namespace dctx::monitor
