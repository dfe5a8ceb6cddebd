#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "monitor/gpu/cupti/pc_abi.hpp"
#include "monitor/gpu/provider.hpp"

namespace dctx::monitor::gpu::cupti {

// What a number in the samples means.
struct StallReason {
  std::string name;      // without the vendor's prefix and suffix
  bool counted = false;  // it is a reason, not a counter of the sampler's own
  bool not_issued = false;
};

// From a name as CUPTI tells it.
StallReason stall_reason(const std::string& text);

// What was lost, since the last read.
struct PcLosses {
  uint64_t dropped = 0;
  bool hardware_full = false;
};

// The sampling of one CUDA context: its settings, and the buffer that samples are read into.
class PcContext {
 public:
  PcContext(const PcFunctions& functions, void* context, uint32_t interface);

  // Enables sampling with the reasons that the device has.
  Result enable(const PcConfig& config);
  Result disable();
  Result start();
  Result stop();
  // Hands all samples so far to the host. `where`: the context of the launch that all of them are
  // of, or kNoContext.
  Result read(const Host& host, uint64_t where, PcLosses& losses);

  void* context() const { return context_; }

 private:
  static constexpr size_t kPlaces = 4096;

  Result learn_reasons();
  Result configure(const PcConfig& config);
  void make_buffer();
  void tell(const Host& host, const PcPlace& place, uint64_t where);

  const PcFunctions& functions_;
  void* const context_;
  const size_t stride_;  // of places in the buffer
  uint32_t device_ = 0;
  std::mutex mutex_;
  std::vector<StallReason> reasons_;  // by number
  std::vector<uint32_t> numbers_;     // of those that are counted
  PcData data_{};
  std::vector<uint8_t> places_;
  std::vector<PcReasonCount> counts_;
};

}  // namespace dctx::monitor::gpu::cupti
