// Python and native frames of a stack in the order of their calls: for debugging, as every operator
// pays for unwinding its whole stack.
#include <Python.h>
#include <unwind.h>

#include <vector>

#include "monitor/engine/engine_state.hpp"
#include "monitor/engine/python_source.hpp"
#include "monitor/unwind/module_map.hpp"
#include "monitor/unwind/native_frames.hpp"

namespace dctx::monitor {
namespace {

constexpr size_t kMaxItems = 1024;

// A native frame, or (frame set) a Python one.
struct Item {
  uint64_t label;
  const void* frame;
};

struct Stack {
  uintptr_t inner;
  uintptr_t outer;  // 0: no limit
  // Innermost first; where the interpreter's loop runs, an item without label and frame stands for
  // the Python frames that it runs.
  std::vector<Item> items;
  size_t loops = 0;
  size_t within = 0;  // items up to the outermost loop
};

uintptr_t evaluation_loop() { return reinterpret_cast<uintptr_t>(&_PyEval_EvalFrameDefault); }

_Unwind_Reason_Code visit(_Unwind_Context* context, void* user) {
  auto& stack = *static_cast<Stack*>(user);
  const auto pointer = static_cast<uintptr_t>(_Unwind_GetCFA(context));
  if (pointer <= stack.inner) return _URC_NO_REASON;
  if ((stack.outer != 0 && pointer > stack.outer) || stack.items.size() == kMaxItems) {
    return _URC_END_OF_STACK;
  }
  int before = 0;
  const auto next = static_cast<uintptr_t>(_Unwind_GetIPInfo(context, &before));
  Located located{};
  if (next == 0 || !ModuleMap::instance().locate(before != 0 ? next : next - 1, &located)) {
    return _URC_NO_REASON;
  }
  if (located.role == ModuleRole::other) {
    stack.items.push_back({native_label(located.module, located.offset), nullptr});
  } else if (located.role == ModuleRole::interpreter &&
             static_cast<uintptr_t>(_Unwind_GetRegionStart(context)) == evaluation_loop()) {
    stack.items.push_back({0, nullptr});
    ++stack.loops;
    stack.within = stack.items.size();
  }
  return _URC_NO_REASON;
}

// Python frames by the loop that runs them, innermost first.
std::vector<std::vector<const void*>> groups_of(const PythonSource& python, const void* leaf,
                                                const void* stop) {
  std::vector<std::vector<const void*>> groups;
  bool fresh = true;
  for (const void* frame = leaf; frame != nullptr && frame != stop; frame = python.caller(frame)) {
    if (fresh) groups.emplace_back();
    groups.back().push_back(frame);
    fresh = python.from_c(frame);
  }
  return groups;
}

uint32_t merged(ThreadRecord& record, uint32_t base, const void* leaf, const void* stop,
                const void* inner, const void* outer) {
  Stack stack{reinterpret_cast<uintptr_t>(inner), reinterpret_cast<uintptr_t>(outer), {}, 0, 0};
  _Unwind_Backtrace(visit, &stack);
  const PythonSource* const python = engine_state.python.load(std::memory_order_acquire);
  std::vector<std::vector<const void*>> groups;
  if (python != nullptr && leaf != nullptr) groups = groups_of(*python, leaf, stop);
  if (groups.size() != stack.loops) {
    // Frames that the two ways of looking tell apart differently: Python above native, as always.
    const uint32_t below = groups.empty() ? base : python->path(record, base, leaf, {stop});
    return native_frames()(record, below, inner, outer);
  }
  // What called the interpreter first says nothing about the program.
  if (outer == nullptr && stack.loops > 0) stack.items.resize(stack.within);
  std::vector<Item> path;  // innermost first
  size_t group = 0;
  for (const Item& item : stack.items) {
    if (item.label != 0) {
      path.push_back(item);
      continue;
    }
    for (const void* frame : groups[group]) path.push_back({0, frame});
    ++group;
  }
  uint32_t node = base;
  for (size_t i = path.size(); i-- > 0;) {
    node = path[i].frame != nullptr ? python->child(record, node, path[i].frame)
                                    : record.store.child(node, NodeKind::native, path[i].label, 0);
  }
  return node;
}

}  // namespace

MergedSource merged_frames() { return merged; }

}  // namespace dctx::monitor
