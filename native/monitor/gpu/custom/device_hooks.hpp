#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "monitor/gpu/custom/device_abi.hpp"
#include "monitor/gpu/provider.hpp"

namespace dctx::monitor::gpu {

// Devices without an interface for profilers: functions of their libraries, named by the user, are
// called through trampolines (route/) and told as calls and work.

enum class HookRole : uint8_t { launch, sync, memcpy, alloc, free, other };

// Where an argument is in a CallFrame.
struct ArgumentPlace {
  enum Where : uint8_t { nowhere, integer, on_stack };
  Where where = nowhere;
  uint8_t index = 0;
  uint8_t bytes = 8;  // how much of it counts; zero-extended
};

struct HookSpec {
  uint32_t device = 0;  // its number in work records
  std::string function;
  HookRole role = HookRole::other;
  bool async = false;   // the call returns before the work is done
  ArgumentPlace name;   // of the kernel: a text
  ArgumentPlace bytes;  // moved by a copy
  ArgumentPlace stream;
};

// An argument's type as far as the calling convention goes.
struct ArgumentType {
  bool floating = false;
  uint8_t bytes = 8;
};

// The places of a function's arguments: System V, x86-64. `stack_words`: how many of them the
// caller's stack holds.
std::vector<ArgumentPlace> argument_places(const std::vector<ArgumentType>& types,
                                           uint64_t& stack_words);

struct HookCounts {
  uint64_t calls = 0;      // counted: the outermost of a thread
  uint64_t nested = 0;     // seen inside another one: part of it, or the same call seen twice
  uint64_t abandoned = 0;  // never returned: an exception or longjmp passed it by
  uint64_t open = 0;       // asynchronous launches that no sync call has waited for so far
};

class DeviceHooks {
 public:
  // Never destroyed: trampolines run until the process ends.
  static DeviceHooks& instance();

  // Once, before open(): hook n is line n of the table that the routes read.
  void configure(std::vector<HookSpec> hooks);
  // Work is told to `host` from now on, where start() was called.
  void open(const Host& host);
  void start() { active_.store(true, std::memory_order_release); }
  void stop() { active_.store(false, std::memory_order_release); }
  HookCounts counts();
  // This is the child of a fork: counts begin anew.
  void forked();

  // The trampolines' side.
  static uint64_t begin_call(uint32_t hook, const device::CallFrame* frame);
  static void end_call(uint64_t token, const device::CallFrame* frame);

 private:
  DeviceHooks() = default;
  uint64_t begin(uint32_t number, const device::CallFrame& frame);
  void end(const device::CallFrame& frame);
  void tell_work(const HookSpec& hook, int64_t end_ns, const device::CallFrame& frame);
  void note_stream(const HookSpec& hook, const device::CallFrame& frame);

  std::vector<HookSpec> hooks_;
  std::atomic<const Host*> host_{nullptr};
  std::atomic<bool> active_{false};
  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> nested_{0};
  std::atomic<uint64_t> abandoned_{0};
  std::mutex streams_mutex_;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> open_;  // (device, stream) → launches
};

// The provider of configured devices: open() connects to the routes that are loaded.
const Provider* custom_provider();

}  // namespace dctx::monitor::gpu
