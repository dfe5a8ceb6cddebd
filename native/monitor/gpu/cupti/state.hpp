#pragma once
#include <array>
#include <atomic>
#include <string>

#include "monitor/gpu/cupti/buffers.hpp"
#include "monitor/gpu/cupti/library.hpp"
#include "monitor/gpu/provider.hpp"

namespace dctx::monitor::gpu::cupti {

constexpr size_t kHighestId = 1024;

// All that is known of CUPTI in this process. Never destroyed: its threads and late callbacks use
// it until the process ends.
struct State {
  Library library;
  BufferPool buffers;
  std::string version;
  Config config;
  Subscriber subscriber = nullptr;
  bool several = false;    // subscribed by the interface for several subscribers
  bool own_clock = false;  // records are on our clock
  // By domain and id: 1 + the kind of a function that is watched.
  std::array<std::array<uint8_t, kHighestId>, 3> kinds{};
  std::atomic<const Host*> host{nullptr};  // null: callbacks do nothing
  std::atomic<int64_t> offset_ns{0};       // from CUPTI's clock to ours
};

State& state();

// What CUPTI is given to call. None throws; on_callback allocates nothing but for contexts that
// were not met before.
uint64_t our_clock();
void on_callback(void* user, uint32_t domain, uint32_t id, const void* data);
void on_request(uint8_t** buffer, size_t* size, size_t* max_records);
void on_complete(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);
// Of the interface for several subscribers.
void on_request2(uint8_t** buffer, size_t* size, size_t* max_records, void* info);
void on_complete2(uint8_t* buffer, size_t size, size_t valid, void* info);

}  // namespace dctx::monitor::gpu::cupti
