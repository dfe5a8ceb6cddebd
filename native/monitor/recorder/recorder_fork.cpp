#include "monitor/engine/cpu_sampler.hpp"
#include "monitor/engine/listeners.hpp"
#include "monitor/gpu/devices.hpp"
#include "monitor/gpu/gpu_host.hpp"
#include "monitor/recorder/recorder.hpp"
#include "monitor/recorder/toggle_signal.hpp"

// pthread_atfork handlers: see Registry.
namespace dctx::monitor {

void Recorder::before_fork() {
  instance().mutex_.lock();
  instance().gate_.mutex().lock();
  CpuSampler::instance().mutex().lock();
  gpu::Devices::instance().before_fork();
  gpu::GpuHost::instance().before_fork();
  Registry::instance().before_fork();
}

void Recorder::after_fork_in_parent() {
  Registry::instance().after_fork_in_parent();
  gpu::GpuHost::instance().after_fork_in_parent();
  gpu::Devices::instance().after_fork_in_parent();
  CpuSampler::instance().mutex().unlock();
  instance().gate_.mutex().unlock();
  instance().mutex_.unlock();
}

// The child has none of the other threads: their objects are given up, not destroyed. It does not
// record until it is told to, and never writes to the parent's file.
void Recorder::after_fork_in_child() {
  Recorder& recorder = instance();
  ToggleSignal::forget();
  Registry::instance().stop();
  Registry::instance().reset_after_fork();
  Listeners::instance().after_fork_in_child();
  if (recorder.worker_ != nullptr) {
    recorder.worker_->control.abandon();
    recorder.forked_ = true;
  }
  gpu::GpuHost::instance().after_fork_in_child();
  gpu::Devices::instance().after_fork_in_child();
  static_cast<void>(recorder.worker_.release());
  CpuSampler::instance().after_fork_in_child();
  CpuSampler::instance().mutex().unlock();
  recorder.gate_.mutex().unlock();
  recorder.file_.close();
  recorder.writer_.reset();
  recorder.attached_.clear();
  recorder.state_ = RecorderState{};
  recorder.mutex_.unlock();
}

}  // namespace dctx::monitor
