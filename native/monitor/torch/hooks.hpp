#pragma once
#include <cstdint>
#include <string>

#include "monitor/torch/symbols.hpp"

namespace dctx::monitor {

// Where at::RecordFunction keeps what it does not tell, in bytes from its start; −1 is not known.
struct EventLayout {
  int32_t scope = -1;           // uint8: without it every event is an operator
  int32_t sequence = -1;        // int64
  int32_t forward_thread = -1;  // uint64
};

// The callbacks that record torch's events. Control from one thread at a time.
class TorchHooks {
 public:
  static TorchHooks& instance();

  // Registers the callbacks; a second call without detach() changes nothing.
  // `arguments`: note what operators are called with; needs symbols.input_sizes.
  void attach(const TorchSymbols& symbols, EventLayout layout, bool arguments);
  void detach();
  bool attached() const { return attached_; }
  // False when it was never possible, or since a value was met that the layout does not allow.
  bool associates() const;
  // Why association was given up while recording; empty when it was not.
  std::string violation() const;

 private:
  TorchHooks() = default;
  static NoContext on_start(const TorchEvent& event);
  static void on_end(const TorchEvent& event, void* context);

  bool attached_ = false;
  uint64_t handle_ = 0;
};

}  // namespace dctx::monitor
