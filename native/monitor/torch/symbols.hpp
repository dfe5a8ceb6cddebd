#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dctx::monitor {

// at::RecordFunction: one event of torch. Its content is read at offsets found by calibration.
struct TorchEvent;

// What a start callback gives back, always null: torch would destroy anything else through its
// virtual destructor. The destructor here makes it an object that is returned through memory, as
// torch's std::unique_ptr is.
class NoContext {
 public:
  NoContext() = default;
  NoContext(const NoContext&) = delete;
  NoContext& operator=(const NoContext&) = delete;
  ~NoContext() {}

 private:
  void* context_ = nullptr;
};

using StartCallback = NoContext (*)(const TorchEvent&);
using EndCallback = void (*)(const TorchEvent&, void*);

constexpr size_t kTorchScopes = 10;
enum TorchScope : uint8_t { kFunction = 0, kBackwardFunction = 1, kUserScope = 7 };

// at::RecordFunctionCallback, with room for members that torch may add.
struct alignas(8) TorchCallback {
  StartCallback start = nullptr;
  EndCallback end = nullptr;
  double sampling_probability = 1.0;
  std::array<bool, kTorchScopes> scopes{};
  bool needs_inputs = false;
  bool needs_outputs = false;
  bool needs_ids = false;
  std::array<char, 88> room{};
};
static_assert(offsetof(TorchCallback, scopes) == 24 && offsetof(TorchCallback, needs_inputs) == 34);
static_assert(sizeof(TorchCallback) == 128);

// The functions of libtorch_cpu that are used. But for input_types none has a std::string in its
// signature, so that torch may be built with either string layout.
struct TorchSymbols {
  uint64_t (*add_callback)(TorchCallback) = nullptr;
  void (*remove_callback)(uint64_t) = nullptr;
  const char* (*name)(const TorchEvent*) = nullptr;
  uint64_t (*thread_id)() = nullptr;
  uint64_t (*peek_sequence)() = nullptr;
  // Only called for events whose inputs torch was told to keep; null when this torch has none.
  std::vector<std::vector<int64_t>> (*input_sizes)(const TorchEvent&, bool flatten) = nullptr;
  // Null as well when torch was built with another layout of std::string than this library.
  std::vector<std::string> (*input_types)(const TorchEvent&) = nullptr;

  bool complete() const { return add_callback != nullptr; }
};

// Finds them in the libtorch_cpu that the process has loaded. Incomplete, with the reason, when it
// has none, or not all of one library.
TorchSymbols find_torch(std::string* reason);

}  // namespace dctx::monitor
