#include "monitor/gpu/devices.hpp"

#include "monitor/gpu/gpu_host.hpp"

namespace dctx::monitor::gpu {
namespace {

// False, and a note, when the instructions of kernels cannot be sampled.
bool configure_samples(const Provider& provider, const Host& host, const PcConfig& samples) {
  if (samples.mode == PcMode::off) return false;
  Reason reason;
  if (provider.pc_config != nullptr && provider.pc_config(samples, reason) == Status::ok) {
    return true;
  }
  host.log_once(reason.text[0] != '\0' ? reason.text : "instructions are not sampled here");
  return false;
}

}  // namespace

Devices& Devices::instance() {
  static Devices* const devices = new Devices;
  return *devices;
}

Status Devices::open(const Provider& provider, const Config& config, Reason& reason,
                     const PcConfig& samples) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Host* const host = GpuHost::instance().host();
  if (host == nullptr) return Status::failed;
  const Status opened = provider.open(*host, config, reason);
  if (opened != Status::ok) return opened;
  const bool sampled = configure_samples(provider, *host, samples);
  const Status started = provider.start(reason);
  if (started != Status::ok) {
    provider.close();
    return started;
  }
  Reason ignored;
  if (sampled) provider.pc_start(ignored);
  open_.push_back(&provider);
  launches_ = records_ = 0;
  unanswered_ = 0;
  return Status::ok;
}

void Devices::flush(bool force) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (open_.empty()) return;
  for (const Provider* provider : open_) {
    provider->flush(force);
    if (provider->pc_read != nullptr) provider->pc_read();
  }
  GpuHost::instance().graphs().flushed();
  watch_answers();
}

// Two tools may have subscribed, of which one gets the records.
void Devices::watch_answers() {
  constexpr int kPatience = 3;
  const WorkCounts counts = GpuHost::instance().counts();
  const bool asked = counts.launches > launches_;
  const bool answered = counts.records > records_;
  launches_ = counts.launches;
  records_ = counts.records;
  unanswered_ = answered ? 0 : unanswered_ + (asked ? 1 : 0);
  if (unanswered_ != kPatience) return;
  GpuHost::instance().host()->log_once(
      "the program launches GPU work, but no record of it arrives: another profiler may have taken "
      "the records");
}

void Devices::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Provider* provider : open_) {
    if (provider->pc_stop != nullptr) provider->pc_stop();
    provider->stop();
    provider->close();
  }
  open_.clear();
}

std::string Devices::versions() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string all;
  for (const Provider* provider : open_) {
    if (!all.empty()) all += ", ";
    all += provider->version != nullptr ? provider->version() : provider->name;
  }
  return all;
}

void Devices::before_fork() { mutex_.lock(); }
void Devices::after_fork_in_parent() { mutex_.unlock(); }

// Work is not recorded in the child: the vendors' libraries do not live on in it.
void Devices::after_fork_in_child() {
  for (const Provider* provider : open_) {
    if (provider->forked != nullptr) provider->forked();
  }
  open_.clear();
  mutex_.unlock();
}

}  // namespace dctx::monitor::gpu
