#pragma once
#include <atomic>
#include <cstdint>

#include "monitor/engine/native_source.hpp"

namespace dctx::monitor {

struct PythonSource;

// How the process records. Every event asks all of it, while the program fills the processor's
// caches: it lies side by side, and is written only when a recording begins or ends.
struct alignas(64) EngineState {
  std::atomic<bool> active{false};
  std::atomic<bool> usage{true};    // thread CPU time and page faults of scopes
  std::atomic<bool> memory{false};  // threads listen to torch's allocators
  std::atomic<NativeWhen> native_when{NativeWhen::once};
  std::atomic<uint32_t> generation{1};  // of recordings
  std::atomic<uint32_t> step_marker{0};
  std::atomic<int> listeners{0};                     // how many
  std::atomic<const PythonSource*> python{nullptr};  // null: no Python frames
  std::atomic<NativeSource> native{nullptr};         // null: no native frames
  std::atomic<MergedSource> merged{nullptr};  // null: Python frames stay above the native ones
};

inline EngineState engine_state;

}  // namespace dctx::monitor
