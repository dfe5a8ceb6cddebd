// Samples of instructions, and the code that they are of.
#include <algorithm>

#include "monitor/gpu/gpu_host.hpp"
#include "monitor/gpu/readable_name.hpp"

namespace dctx::monitor::gpu {

void GpuHost::on_module(const void* bytes, size_t count, uint64_t id) {
  bool kept = false;
  try {
    kept = instance().cubins_.add(id, bytes, count);
  } catch (...) {
    kept = false;
  }
  if (!kept) log_once("some GPU code is not kept, for its size: its samples have no source lines");
}

void GpuHost::on_pc(const PcRecord* records, size_t count) {
  GpuHost& self = instance();
  size_t done = 0;
  try {
    const std::lock_guard<std::mutex> lock(self.samples_.mutex());
    for (; done < count; ++done) self.add(records[done]);
  } catch (...) {
    Registry::instance().losses().add(Loss::instructions_dropped, count - done);
  }
}

void GpuHost::add(const PcRecord& record) {
  Registry& registry = Registry::instance();
  if (record.function == nullptr || record.reason == nullptr) return;
  StringTable& strings = registry.strings();
  SampleKey key{};
  key.cubin_crc = record.cubin_crc;
  key.offset = record.offset;
  key.context = record.context;
  if (key.context == kNoContext && record.correlation != 0 &&
      ring_.find(record.correlation, &key.context) && key.context == kNoContext) {
    return;  // launched while nothing was recorded
  }
  if (!known(key.context)) key.context = kNoContext;
  key.function = strings.intern(record.function);
  key.kernel = strings.intern(readable_name(record.function));
  key.reason = strings.intern(record.reason);
  key.device = record.device;
  const uint64_t samples = std::max(record.samples, record.not_issued);
  if (samples == 0) return;
  if (samples_.add(key, samples, record.not_issued)) registry.losses().add(Loss::folded);
}

}  // namespace dctx::monitor::gpu
