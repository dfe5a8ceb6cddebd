#include "monitor/engine/context.hpp"

#include "monitor/engine/python_source.hpp"

namespace dctx::monitor {

PackedContext context_now(uint32_t sources, uint32_t skip) {
  Registry& registry = Registry::instance();
  ThreadRecord* record = registry.active() ? registry.current() : nullptr;
  if (record == nullptr) return {PackedContext::kUnknown};
  const bool alone = record->open.empty();
  uint32_t node = alone ? 0 : record->open.back().base;
  const PythonStop stop = alone ? PythonStop{} : record->open.back().python_stop;
  const PythonSource* python =
      (sources & kPython) != 0 ? engine_state.python.load(std::memory_order_acquire) : nullptr;
  const void* leaf = python != nullptr ? python->leaf() : nullptr;
  for (; skip > 0 && leaf != nullptr && leaf != stop.frame; --skip) leaf = python->caller(leaf);
  if (leaf != nullptr) node = python->path(*record, node, leaf, stop);
  return PackedContext::of(record->index, record->epoch.load(std::memory_order_relaxed), node);
}

}  // namespace dctx::monitor
