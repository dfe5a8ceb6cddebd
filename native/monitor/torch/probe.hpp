#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "monitor/torch/symbols.hpp"

namespace dctx::monitor {

// What one event of torch looked like: the input of calibration.
struct EventSample {
  std::string name;
  uint64_t thread;        // torch's id of the thread
  std::string memory;     // the first bytes of the object, fewer where the memory ends
  std::string arguments;  // arguments_text(), when it was asked for
};

// Samples the events that begin on the calling thread. One probe at a time in a process.
class TorchProbe {
 public:
  static constexpr size_t kBytes = 512;

  // `scopes`: one bit for each of torch's kinds of events.
  TorchProbe(const TorchSymbols& symbols, uint32_t scopes, bool arguments);
  TorchProbe(const TorchProbe&) = delete;
  TorchProbe& operator=(const TorchProbe&) = delete;
  ~TorchProbe();

  std::vector<EventSample> samples() const { return samples_; }

 private:
  static NoContext on_start(const TorchEvent& event);
  static void on_end(const TorchEvent& event, void* context);
  void sample(const TorchEvent& event);

  TorchSymbols symbols_;
  bool arguments_;
  uint64_t handle_ = 0;
  std::vector<EventSample> samples_;
};

}  // namespace dctx::monitor
