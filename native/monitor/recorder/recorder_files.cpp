#include <memory>
#include <string>
#include <utility>

#include "monitor/engine/clock.hpp"
#include "monitor/engine/cpu_sampler.hpp"
#include "monitor/gpu/devices.hpp"
#include "monitor/recorder/chunks.hpp"
#include "monitor/recorder/recorder.hpp"

// How snapshots become a file.
namespace dctx::monitor {
namespace {

constexpr uint64_t kGrowth = 4;  // times the compact size

}  // namespace

SnapshotFacts Recorder::facts(bool last) const {
  return {utc_ns(), monotonic_ns(), state_.cpu_ns, last, &attached_};
}

bool Recorder::write(bool last) {
  const int64_t begin_ns = thread_cpu_ns();
  CpuSampler::instance().collect();
  gpu::Devices::instance().flush(last);
  bool written = false;
  if (last || !file_.is_open() || torn_) written = write_fresh(last);
  if (!written && file_.is_open() && !torn_) {
    std::string news;
    state_.totals = writer_->append(news, meta_, facts(last));
    written = file_.append(news, options_.durable);
    torn_ = !written;  // what the writer takes for written is not there
    if (written) compact_when_large();
  }
  if (written) {
    ++state_.snapshots;
    state_.error.clear();
  } else if (state_.totals.any() || !attached_.empty()) {
    state_.error = file_.error();
  }
  state_.file_bytes = file_.is_open() ? file_.size() : 0;
  state_.cpu_ns += thread_cpu_ns() - begin_ns;
  return written;
}

// The whole recording in a new file. None is made when there is nothing in it.
bool Recorder::write_fresh(bool last) {
  auto fresh = std::make_unique<SnapshotWriter>(Registry::instance());
  std::string all = file_header(start_utc_ns_, start_monotonic_ns_);
  const Totals totals = fresh->append(all, meta_, facts(last));
  state_.totals = totals;
  if (!totals.any() && attached_.empty()) return false;
  compact_bytes_ = all.size();
  if (!file_.replace(options_.path, all, options_.durable)) return false;
  writer_ = std::move(fresh);
  torn_ = false;
  return true;
}

void Recorder::compact_when_large() {
  const uint64_t size = file_.size();
  if (size <= options_.compact_bytes || size <= kGrowth * compact_bytes_) return;
  auto fresh = std::make_unique<SnapshotWriter>(Registry::instance());
  std::string all = file_header(start_utc_ns_, start_monotonic_ns_);
  fresh->append(all, meta_, facts(false));
  compact_bytes_ = all.size();
  if (size <= kGrowth * compact_bytes_) return;
  if (file_.replace(options_.path, all, options_.durable)) {
    writer_ = std::move(fresh);
    ++state_.compactions;
  }
}

}  // namespace dctx::monitor
