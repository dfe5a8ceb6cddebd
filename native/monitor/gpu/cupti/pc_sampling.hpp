#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "monitor/gpu/cupti/library.hpp"
#include "monitor/gpu/cupti/pc_context.hpp"

namespace dctx::monitor::gpu::cupti {

// Samples of instructions of all CUDA contexts of the process. When a driver refuses it says so
// once and the recording goes on without.
class PcSampling {
 public:
  // Never destroyed: callbacks come until the process ends.
  static PcSampling& instance();

  // Before start(): finds the functions, and looks whether the user may sample.
  Status configure(const Library& library, const PcConfig& config, Reason& reason);
  void start(const Host& host);
  // Reads what is there and ends the sampling of all contexts.
  void stop();
  void forked();
  // Reads the samples of all contexts.
  void read();
  bool on() const { return host_.load(std::memory_order_acquire) != nullptr; }
  bool configured() const { return config_.mode != PcMode::off; }

  // From callbacks, on the program's threads.
  void context_seen(void* context);
  void context_ending(void* context);
  void module_loaded(const void* cubin, size_t bytes);
  void module_ending() { read(); }
  // Around a launch; `where`: its context.
  void launch_begins(void* context, const char* symbol, uint64_t where);
  void launch_ends(void* context);

 private:
  PcSampling() = default;
  PcContext* sampled(void* context);
  void refuse(const char* what, Result result);
  void read_one(PcContext& context, uint64_t where);
  bool wanted(const char* symbol);
  void run();

  PcFunctions functions_;
  PcConfig config_;
  uint32_t interface_ = 0;
  std::atomic<const Host*> host_{nullptr};
  std::atomic<bool> refused_{false};
  std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<PcContext>> contexts_;
  std::unordered_map<std::string, uint64_t> launches_;  // of each kernel; per_launch
  std::mutex wake_mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread reader_;
};

}  // namespace dctx::monitor::gpu::cupti
