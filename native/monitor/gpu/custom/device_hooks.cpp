#include "monitor/gpu/custom/device_hooks.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <iterator>
#include <new>

#include "monitor/engine/clock.hpp"

namespace dctx::monitor::gpu {
namespace {

using device::CallFrame;

constexpr size_t kIntegerRegisters = 6;
constexpr size_t kFloatRegisters = 8;
constexpr size_t kNameBytes = 256;
constexpr size_t kStreams = 4096;

// The hooked call that the thread is in: the outermost one. Calls that it makes are part of it, and
// so is the same call seen by a second route.
struct OpenHook {
  const CallFrame* frame = nullptr;  // null: in none
  uint32_t hook = 0;
  uint64_t context = kNoContext;
  int64_t begin_ns = 0;
  char name[kNameBytes];
};
thread_local OpenHook open_hook;

uint64_t value_of(const ArgumentPlace& place, const CallFrame& frame) {
  uint64_t value = 0;
  if (place.where == ArgumentPlace::integer) value = frame.integers[place.index];
  if (place.where == ArgumentPlace::on_stack) value = frame.stack[place.index];
  return place.bytes >= 8 ? value : value & ((uint64_t{1} << (8 * place.bytes)) - 1);
}

// The text at an address that the program's file of devices says is one: the system copies, so that
// a wrong description reads nothing where there is nothing.
void copy_text(uint64_t address, char* out) {
  const iovec to{out, kNameBytes - 1};
  const iovec from{reinterpret_cast<void*>(address), kNameBytes - 1};
  ssize_t got = address == 0 ? 0 : process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  if (got < 0 && address % 4096 + kNameBytes > 4096) {
    // Partial copies end between pieces: up to the end of the page at least.
    const iovec part{reinterpret_cast<void*>(address), 4096 - address % 4096};
    got = process_vm_readv(getpid(), &to, 1, &part, 1, 0);
  }
  out[got > 0 ? got : 0] = '\0';
}

ApiKind api_kind(HookRole role) {
  switch (role) {
    case HookRole::launch:
      return ApiKind::launch;
    case HookRole::sync:
      return ApiKind::synchronize;
    case HookRole::memcpy:
      return ApiKind::copy;
    case HookRole::alloc:
      return ApiKind::allocate;
    case HookRole::free:
      return ApiKind::free;
    case HookRole::other:
      break;
  }
  return ApiKind::other;
}

ApiCall api_call(const HookSpec& hook, ApiSite site) {
  ApiCall call;
  call.site = site;
  call.kind = api_kind(hook.role);
  call.name = hook.function.c_str();
  return call;
}

}  // namespace

std::vector<ArgumentPlace> argument_places(const std::vector<ArgumentType>& types,
                                           uint64_t& stack_words) {
  std::vector<ArgumentPlace> places;
  size_t integers = 0, floats = 0;
  stack_words = 0;
  for (const ArgumentType& type : types) {
    ArgumentPlace place;
    place.bytes = type.bytes;
    if (type.floating && floats < kFloatRegisters) {
      ++floats;
    } else if (!type.floating && integers < kIntegerRegisters) {
      place.where = ArgumentPlace::integer;
      place.index = static_cast<uint8_t>(integers++);
    } else {
      if (!type.floating) place.where = ArgumentPlace::on_stack;
      place.index = static_cast<uint8_t>(stack_words++);
    }
    places.push_back(place);
  }
  return places;
}

DeviceHooks& DeviceHooks::instance() {
  static DeviceHooks* const hooks = new DeviceHooks;
  return *hooks;
}

void DeviceHooks::configure(std::vector<HookSpec> hooks) {
  if (host_.load(std::memory_order_acquire) == nullptr) hooks_ = std::move(hooks);
}

void DeviceHooks::open(const Host& host) { host_.store(&host, std::memory_order_release); }

HookCounts DeviceHooks::counts() {
  HookCounts out{calls_.load(), nested_.load(), abandoned_.load(), 0};
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  for (const auto& entry : open_) out.open += entry.second;
  return out;
}

void DeviceHooks::forked() {
  // The parent's other threads may have held the lock, and their launches are not the child's.
  new (&streams_mutex_) std::mutex;
  open_.clear();
  for (auto* count : {&calls_, &nested_, &abandoned_}) count->store(0);
}

uint64_t DeviceHooks::begin_call(uint32_t hook, const CallFrame* frame) {
  return instance().begin(hook, *frame);
}

void DeviceHooks::end_call(uint64_t, const CallFrame* frame) { instance().end(*frame); }

uint64_t DeviceHooks::begin(uint32_t number, const CallFrame& frame) {
  const Host* const host = host_.load(std::memory_order_acquire);
  if (host == nullptr || !active_.load(std::memory_order_acquire) || number >= hooks_.size()) {
    return 0;
  }
  OpenHook& open = open_hook;
  if (open.frame != nullptr) {
    // The stack grows downwards: a call inside the open one lies below it.
    if (&frame < open.frame) {
      nested_.fetch_add(1, std::memory_order_relaxed);
      return 0;
    }
    // That one was left by an exception or a longjmp.
    abandoned_.fetch_add(1, std::memory_order_relaxed);
    host->on_api(api_call(hooks_[open.hook], ApiSite::leave));
  }
  const HookSpec& hook = hooks_[number];
  open.frame = &frame;  // before anything that could call a hooked function
  open.hook = number;
  open.name[0] = '\0';
  if (hook.role == HookRole::launch && hook.name.where != ArgumentPlace::nowhere) {
    copy_text(value_of(hook.name, frame), open.name);
  }
  ApiCall call = api_call(hook, ApiSite::enter);
  call.symbol = open.name[0] != '\0' ? open.name : nullptr;
  call.stream = value_of(hook.stream, frame);
  open.context = host->on_api(call);
  calls_.fetch_add(1, std::memory_order_relaxed);
  open.begin_ns = Clock::now_ns();
  return 1;
}

void DeviceHooks::end(const CallFrame& frame) {
  OpenHook& open = open_hook;
  const Host* const host = host_.load(std::memory_order_acquire);
  if (open.frame != &frame || host == nullptr) return;
  const int64_t end_ns = Clock::now_ns();
  const HookSpec& hook = hooks_[open.hook];
  if (open.context != kNoContext) tell_work(hook, end_ns, frame);
  host->on_api(api_call(hook, ApiSite::leave));
  open.frame = nullptr;
}

void DeviceHooks::tell_work(const HookSpec& hook, int64_t end_ns, const CallFrame& frame) {
  const OpenHook& open = open_hook;
  if (hook.role == HookRole::launch || hook.role == HookRole::sync) note_stream(hook, frame);
  if (hook.role != HookRole::launch && hook.role != HookRole::memcpy) return;
  WorkRecord record;
  record.kind = hook.role == HookRole::launch ? WorkKind::kernel : WorkKind::copy;
  record.device = hook.device;
  record.stream = value_of(hook.stream, frame);
  record.name = open.name[0] != '\0' ? open.name : hook.function.c_str();
  record.begin_ns = open.begin_ns;
  record.end_ns = end_ns;
  record.context = open.context;
  record.bytes = value_of(hook.bytes, frame);
  host_.load(std::memory_order_acquire)->on_records(&record, 1);
}

void DeviceHooks::note_stream(const HookSpec& hook, const CallFrame& frame) {
  if (hook.role == HookRole::launch && !hook.async) return;
  const std::pair<uint32_t, uint64_t> key{hook.device, value_of(hook.stream, frame)};
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  try {
    if (hook.role == HookRole::launch) {
      if (open_.size() < kStreams || open_.count(key) > 0) ++open_[key];
    } else if (hook.stream.where != ArgumentPlace::nowhere) {
      open_.erase(key);
    } else {  // waits for the whole device
      for (auto at = open_.begin(); at != open_.end();) {
        at = at->first.first == hook.device ? open_.erase(at) : std::next(at);
      }
    }
  } catch (...) {
    return;  // memory is out: the launch is not counted as open
  }
}

}  // namespace dctx::monitor::gpu
