#include "monitor/torch/probe.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>

#include "monitor/torch/arguments.hpp"

namespace dctx::monitor {
namespace {

// Only the thread that probes has one: events of other threads pass.
thread_local TorchProbe* probe_of_thread = nullptr;

}  // namespace

TorchProbe::TorchProbe(const TorchSymbols& symbols, uint32_t scopes, bool arguments)
    : symbols_(symbols), arguments_(arguments && symbols.input_sizes != nullptr) {
  TorchCallback callback;
  callback.needs_inputs = arguments_;
  callback.start = on_start;
  callback.end = on_end;
  for (size_t scope = 0; scope < kTorchScopes; ++scope) {
    callback.scopes[scope] = (scopes >> scope & 1U) != 0;
  }
  handle_ = symbols_.add_callback(callback);
  probe_of_thread = this;
}

TorchProbe::~TorchProbe() {
  probe_of_thread = nullptr;
  symbols_.remove_callback(handle_);
}

NoContext TorchProbe::on_start(const TorchEvent& event) {
  if (TorchProbe* const probe = probe_of_thread; probe != nullptr) probe->sample(event);
  return {};
}

void TorchProbe::on_end(const TorchEvent&, void*) {}

// User scopes live on the heap, where a plain copy could run over the end of a mapping: the system
// copies, and stops there.
void TorchProbe::sample(const TorchEvent& event) {
  std::array<char, kBytes> bytes{};
  const iovec to{bytes.data(), bytes.size()};
  const iovec from{const_cast<TorchEvent*>(&event), bytes.size()};
  const ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  const char* const name = symbols_.name(&event);
  samples_.push_back({name != nullptr ? name : "", symbols_.thread_id(),
                      std::string(bytes.data(), got > 0 ? static_cast<size_t>(got) : 0),
                      arguments_ ? arguments_text(symbols_, event) : ""});
}

}  // namespace dctx::monitor
