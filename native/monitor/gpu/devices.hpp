#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "monitor/gpu/provider.hpp"

namespace dctx::monitor::gpu {

// The providers that are open in this process.
class Devices {
 public:
  // Never destroyed: providers' threads run until the process ends.
  static Devices& instance();

  // Opens a provider and starts it; when that fails it is closed again.
  // `samples`: whose instructions are sampled; when that cannot be, a note says why.
  Status open(const Provider& provider, const Config& config, Reason& reason,
              const PcConfig& samples = {});
  // Delivers what is complete; `force` at the end.
  void flush(bool force);
  // Stops and closes all providers, after a last flush.
  void close();
  // Of the open providers, as `CUPTI 13.0`; empty when none is open.
  std::string versions();

  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  Devices() = default;
  void watch_answers();

  std::mutex mutex_;
  std::vector<const Provider*> open_;
  uint64_t launches_ = 0;  // at the last flush
  uint64_t records_ = 0;
  int unanswered_ = 0;  // flushes in a row with launches and without records
};

}  // namespace dctx::monitor::gpu
