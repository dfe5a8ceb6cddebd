// The functions of CUPTI that the monitor uses.
#include <time.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "state.hpp"

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake {

State& state() {
  static State* const only = new State;
  return *only;
}

Result called(const char* function) {
  State& fake = state();
  const std::lock_guard<std::recursive_mutex> lock(fake.mutex);
  ++fake.calls[function];
  const auto failure = fake.failures.find(function);
  return failure == fake.failures.end() ? Result{kSuccess} : failure->second;
}

uint64_t device_now() {
  State& fake = state();
  if (fake.timestamp != nullptr) return fake.timestamp();
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  constexpr uint64_t kAhead = 1'000'000'000'000'000;  // a clock of its own
  return kAhead + static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

void tell(uint32_t domain, uint32_t id, const void* data) {
  State& fake = state();
  CallbackFunction callback = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard<std::recursive_mutex> lock(fake.mutex);
    if (fake.callbacks.count({domain, id}) == 0) return;
    callback = fake.callback;
    user = fake.user;
  }
  if (callback != nullptr) callback(user, domain, id, data);
}

size_t size_of(uint32_t kind) {
  switch (kind) {
    case kKernel:
    case kConcurrentKernel:
      return state().kernel_size;
    case kMemcpy:
    case kMemcpyPeer:
      return 96;
    case kMemset:
      return 88;
    case kGraphTrace:
      return 56;
    default:
      return 32;  // kinds that nobody asked for
  }
}

namespace {

std::vector<Pending> taken(bool force) {
  State& fake = state();
  const std::lock_guard<std::recursive_mutex> lock(fake.mutex);
  std::vector<Pending> ready, rest;
  for (Pending& record : fake.pending) {
    (record.running && !force ? rest : ready).push_back(std::move(record));
  }
  fake.pending = std::move(rest);
  if ((fake.delivery & FAKE_SHUFFLE) != 0) std::shuffle(ready.begin(), ready.end(), fake.random);
  return ready;
}

}  // namespace

void deliver(bool force) {
  State& fake = state();
  const std::vector<Pending> ready = taken(force);
  for (size_t next = 0; next < ready.size();) {
    uint8_t* buffer = nullptr;
    size_t size = 0, most = 0;
    if (fake.several) {
      if (fake.request2 == nullptr) return;
      fake.request2(&buffer, &size, &most, nullptr);
    } else {
      if (fake.request == nullptr) return;
      fake.request(&buffer, &size, &most);
    }
    if (buffer == nullptr) {
      const std::lock_guard<std::recursive_mutex> lock(fake.mutex);
      fake.dropped += ready.size() - next;
      return;
    }
    if (fake.buffer_records != 0) most = fake.buffer_records;
    size_t used = 0;
    for (size_t in_it = 0; next < ready.size() && (most == 0 || in_it < most); ++in_it, ++next) {
      const std::vector<uint8_t>& bytes = ready[next].bytes;
      if (used + bytes.size() > size) break;
      std::memcpy(buffer + used, bytes.data(), bytes.size());
      used += bytes.size();
    }
    if (fake.several) {
      fake.complete2(buffer, size, used, nullptr);
    } else {
      fake.complete(nullptr, 0, buffer, size, used);
    }
  }
}

namespace {

Result subscribe(Subscriber* subscriber, CallbackFunction callback, void* user) {
  State& fake = state();
  fake.callback = callback;
  fake.user = user;
  *subscriber = &fake;
  return kSuccess;
}

Result next(uint8_t* buffer, size_t valid, ActivityHead** record) {
  const size_t offset = *record == nullptr
                            ? 0
                            : static_cast<size_t>(reinterpret_cast<uint8_t*>(*record) - buffer) +
                                  size_of((*record)->kind);
  if (offset >= valid) return kNoMoreRecords;
  *record = reinterpret_cast<ActivityHead*>(buffer + offset);
  return kSuccess;
}

Result take_dropped(size_t* dropped) {
  State& fake = state();
  const std::lock_guard<std::recursive_mutex> lock(fake.mutex);
  *dropped = fake.dropped;
  fake.dropped = 0;
  return kSuccess;
}

}  // namespace
}  // namespace fake

using namespace fake;

FAKE_EXPORT Result cuptiGetVersion(uint32_t* version) {
  *version = state().version;
  return called("cuptiGetVersion");
}

FAKE_EXPORT Result cuptiGetResultString(Result result, const char** text) {
  switch (result) {
    case kNotInitialized:
      *text = "CUPTI_ERROR_NOT_INITIALIZED";
      break;
    case kInsufficientPrivileges:
      *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
      break;
    case kMultipleSubscribers:
      *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      break;
    case kVirtualizedPrivileges:
      *text = "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES";
      break;
    case kUnknown:
      *text = "CUPTI_ERROR_UNKNOWN";
      break;
    default:
      return 1;
  }
  return kSuccess;
}

FAKE_EXPORT Result cuptiSubscribe(Subscriber* subscriber, CallbackFunction callback, void* user) {
  const Result failure = called("cuptiSubscribe");
  if (failure != kSuccess) return failure;
  if (state().callback != nullptr || !state().holder.empty()) return kMultipleSubscribers;
  state().several = false;
  return subscribe(subscriber, callback, user);
}

FAKE_EXPORT Result cuptiUnsubscribe(Subscriber) {
  const Result failure = called("cuptiUnsubscribe");
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  state().callback = nullptr;
  state().callbacks.clear();
  return failure;
}

FAKE_EXPORT Result cuptiEnableCallback(uint32_t enable, Subscriber, uint32_t domain, uint32_t id) {
  const Result failure = called("cuptiEnableCallback");
  if (failure != kSuccess) return failure;
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  if (enable != 0) {
    state().callbacks.insert({domain, id});
  } else {
    state().callbacks.erase({domain, id});
  }
  return kSuccess;
}

FAKE_EXPORT Result cuptiActivityRegisterCallbacks(RequestBuffer request, CompleteBuffer complete) {
  const Result failure = called("cuptiActivityRegisterCallbacks");
  if (failure != kSuccess) return failure;
  state().request = request;
  state().complete = complete;
  return kSuccess;
}

FAKE_EXPORT Result cuptiActivityEnable(uint32_t kind) {
  const Result failure = called("cuptiActivityEnable");
  if (failure == kSuccess) state().kinds.insert(kind);
  return failure;
}

FAKE_EXPORT Result cuptiActivityDisable(uint32_t kind) {
  state().kinds.erase(kind);
  return called("cuptiActivityDisable");
}

#ifndef FAKE_WITHOUT_FLUSH
FAKE_EXPORT Result cuptiActivityFlushAll(uint32_t flag) {
  const Result failure = called("cuptiActivityFlushAll");
  if (failure != kSuccess) return failure;
  if ((state().delivery & FAKE_LATE) == 0) deliver(flag != 0);
  return kSuccess;
}
#endif

FAKE_EXPORT Result cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid,
                                              ActivityHead** record) {
  return next(buffer, valid, record);
}

FAKE_EXPORT Result cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) {
  return take_dropped(dropped);
}

FAKE_EXPORT Result cuptiGetTimestamp(uint64_t* timestamp) {
  *timestamp = device_now();
  return called("cuptiGetTimestamp");
}

FAKE_EXPORT Result cuptiFinalize() { return called("cuptiFinalize"); }

FAKE_EXPORT Result cuptiGetGraphNodeId(void* node, uint64_t* id) {
  *id = static_cast<const Node*>(node)->id;
  return kSuccess;
}

FAKE_EXPORT Result cuptiGetGraphId(void* graph, uint32_t* id) {
  *id = static_cast<const Graph*>(graph)->id;
  return kSuccess;
}

FAKE_EXPORT Result cuptiActivityRegisterTimestampCallback(Timestamp timestamp) {
  const Result failure = called("cuptiActivityRegisterTimestampCallback");
  if (failure == kSuccess) state().timestamp = timestamp;
  return failure;
}

#ifndef FAKE_OLD
FAKE_EXPORT Result cuptiSubscribe_v2(Subscriber* subscriber, CallbackFunction callback, void* user,
                                     SubscriberParams* params) {
  constexpr Result kInvalidParameter = 1;
  constexpr uint32_t kFirstWithSeveral = 130'400;
  const Result failure = called("cuptiSubscribe_v2");
  if (failure != kSuccess) return failure;
  State& fake = state();
  const bool knows = fake.version >= kFirstWithSeveral;
  if (params->size != kParamsExclusive && !(knows && params->size == kParamsSeveral)) {
    return kInvalidParameter;
  }
  const bool several = params->size == kParamsSeveral && params->several != 0;
  if (fake.callback != nullptr || !fake.holder.empty()) {
    const std::string holder = fake.holder.empty() ? "CUPTI for dctx" : fake.holder;
    std::strncpy(params->holder, holder.c_str(), params->holder_size - 1);
    return kMultipleSubscribers;
  }
  fake.several = several;
  return subscribe(subscriber, callback, user);
}

FAKE_EXPORT Result cuptiActivityRegisterCallbacks_v2(Subscriber, RequestBuffer2 request,
                                                     CompleteBuffer2 complete) {
  state().request2 = request;
  state().complete2 = complete;
  return called("cuptiActivityRegisterCallbacks_v2");
}

FAKE_EXPORT Result cuptiActivityEnable_v2(Subscriber, uint32_t kind, void*) {
  state().kinds.insert(kind);
  return called("cuptiActivityEnable_v2");
}

FAKE_EXPORT Result cuptiActivityDisable_v2(Subscriber, uint32_t kind, void*) {
  state().kinds.erase(kind);
  return called("cuptiActivityDisable_v2");
}

FAKE_EXPORT Result cuptiActivityGetNextRecord_v2(Subscriber, uint8_t* buffer, size_t valid,
                                                 ActivityHead** record) {
  return next(buffer, valid, record);
}

FAKE_EXPORT Result cuptiActivityGetNumDroppedRecords_v2(Subscriber, void*, uint32_t,
                                                        size_t* dropped) {
  return take_dropped(dropped);
}

FAKE_EXPORT Result cuptiGetTimestamp_v2(Subscriber, uint64_t* timestamp) {
  *timestamp = device_now();
  return called("cuptiGetTimestamp_v2");
}
#endif
