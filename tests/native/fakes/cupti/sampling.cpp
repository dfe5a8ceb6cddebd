// The sampling of instructions: functions of CUPTI, and what tests plan.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "monitor/gpu/cupti/pc_abi.hpp"
#include "state.hpp"

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake {
namespace {

using Lock = std::lock_guard<std::recursive_mutex>;

constexpr const char* kPrefix = "smsp__pcsamp_warps_issue_stalled_";
constexpr const char* kReasons[] = {"long_scoreboard", "long_scoreboard_not_issued",
                                    "selected",        "wait",
                                    "wait_not_issued", "brand_new"};
constexpr size_t kReasonCount = sizeof kReasons / sizeof *kReasons;
constexpr uint32_t kDropCounter = 40;  // a number that is no reason

// Numbers are the library's own: neither dense nor in order.
uint32_t number_of(size_t reason) { return static_cast<uint32_t>(17 - 2 * reason); }

uint32_t setting(uint32_t attribute) {
  const auto found = state().sampling.settings.find(attribute);
  return found == state().sampling.settings.end() ? 0 : found->second;
}

bool samples_now() {
  const Sampling& sampling = state().sampling;
  return sampling.enabled && (setting(kPcStartStop) == 0 || sampling.started);
}

}  // namespace

void* context() { return &state(); }

void sample_kernel(const char* name, uint32_t correlation) {
  const Lock lock(state().mutex);
  Sampling& sampling = state().sampling;
  const auto plan = sampling.plan.find(name);
  if (plan == sampling.plan.end() || !samples_now()) return;
  const bool serialized = setting(kPcCollection) == kPcSerialized;
  for (const PlannedSample& planned : plan->second) {
    const uint32_t told = serialized ? correlation : 0;
    auto place = std::find_if(sampling.taken.begin(), sampling.taken.end(), [&](const auto& taken) {
      return taken.crc == planned.crc && taken.offset == planned.offset &&
             taken.correlation == told && std::strcmp(taken.function, name) == 0;
    });
    if (place == sampling.taken.end()) {
      sampling.taken.push_back({planned.crc, planned.offset, told, name, {}});
      place = sampling.taken.end() - 1;
    }
    place->counts[number_of(planned.reason)] += planned.samples;
  }
}

}  // namespace fake

using namespace fake;

FAKE_EXPORT Result cuptiPCSamplingEnable(PcCall*) {
  const Result failure = called("cuptiPCSamplingEnable");
  state().sampling.enabled = failure == kSuccess;
  return failure;
}
FAKE_EXPORT Result cuptiPCSamplingDisable(PcCall*) {
  state().sampling.enabled = false;
  return called("cuptiPCSamplingDisable");
}
FAKE_EXPORT Result cuptiPCSamplingStart(PcCall*) {
  state().sampling.started = true;
  return called("cuptiPCSamplingStart");
}
FAKE_EXPORT Result cuptiPCSamplingStop(PcCall*) {
  state().sampling.started = false;
  return called("cuptiPCSamplingStop");
}

FAKE_EXPORT Result cuptiPCSamplingGetNumStallReasons(PcReasonCountCall* call) {
  *call->count = kReasonCount + 1;
  return called("cuptiPCSamplingGetNumStallReasons");
}
FAKE_EXPORT Result cuptiPCSamplingGetStallReasons(PcReasonsCall* call) {
  for (size_t i = 0; i < std::min(call->count, kReasonCount); ++i) {
    call->numbers[i] = number_of(i);
    std::string text = kPrefix;
    text += kReasons[i];
    std::strncpy(call->texts[i], text.c_str(), kReasonText - 1);
  }
  if (call->count > kReasonCount) {
    call->numbers[kReasonCount] = kDropCounter;
    std::strncpy(call->texts[kReasonCount], "smsp__pcsamp_samples_data_dropped", kReasonText - 1);
  }
  return called("cuptiPCSamplingGetStallReasons");
}

FAKE_EXPORT Result cuptiPCSamplingSetConfigurationAttribute(PcSettingsCall* call) {
  const Result failure = called("cuptiPCSamplingSetConfigurationAttribute");
  if (failure != kSuccess) return failure;
  const Lock lock(state().mutex);
  for (size_t i = 0; i < call->count; ++i) {
    PcSetting& one = call->settings[i];
    if (one.attribute == kPcReasons) {
      for (size_t r = 0; r < one.reasons.count; ++r) {
        state().sampling.reasons.insert(one.reasons.numbers[r]);
      }
    } else {
      state().sampling.settings[one.attribute] = one.number;
    }
    one.status = kSuccess;
  }
  return kSuccess;
}

FAKE_EXPORT Result cuptiPCSamplingGetData(PcDataCall* call) {
  const Result failure = called("cuptiPCSamplingGetData");
  if (failure != kSuccess) return failure;
  const Lock lock(state().mutex);
  Sampling& sampling = state().sampling;
  PcData& data = *call->data;
  constexpr uint32_t kOldInterface = 22;
  const size_t stride =
      state().version < kOldInterface ? kPcPlaceWithoutCorrelation : sizeof(PcPlace);
  size_t room = sampling.room != 0 ? std::min(data.room, sampling.room) : data.room;
  room = std::min(room, sampling.taken.size());
  auto* bytes = reinterpret_cast<uint8_t*>(data.places);
  for (size_t i = 0; i < room; ++i) {
    const TakenSample& taken = sampling.taken[i];
    PcPlace place{};
    std::memcpy(&place, bytes + i * stride, stride);  // the tool's own: where reasons go
    place.cubin_crc = taken.crc;
    place.offset = taken.offset;
    place.function_index = 1;
    place.function = const_cast<char*>(taken.function);
    place.correlation = taken.correlation;
    size_t filled = 0;
    for (const auto& [reason, count] : taken.counts) {
      if (sampling.reasons.count(reason) == 0) continue;
      place.reasons[filled++] = {reason, count};
    }
    place.reason_count = filled;
    std::memcpy(bytes + i * stride, &place, stride);
  }
  sampling.taken.erase(sampling.taken.begin(),
                       sampling.taken.begin() + static_cast<std::ptrdiff_t>(room));
  data.count = room;
  data.remaining = sampling.taken.size();
  data.dropped = sampling.dropped;
  data.hardware_full = sampling.dropped > 0 ? 1 : 0;
  sampling.dropped = 0;
  return kSuccess;
}

FAKE_EXPORT Result cuptiGetCubinCrc(CubinCrcCall* call) {
  call->crc = fake_crc(call->cubin, call->bytes);
  return called("cuptiGetCubinCrc");
}
FAKE_EXPORT Result cuptiGetDeviceId(void*, uint32_t* device) {
  *device = 0;
  return called("cuptiGetDeviceId");
}

FAKE_EXPORT uint64_t fake_crc(const void* bytes, size_t size) {
  uint64_t hash = 14695981039346656037U;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211U;
  }
  return hash >> 1;
}
FAKE_EXPORT void fake_plan_sample(const char* kernel, uint64_t cubin_crc, uint64_t offset,
                                  const char* reason, uint32_t samples) {
  const Lock lock(state().mutex);
  for (uint32_t i = 0; i < kReasonCount; ++i) {
    if (std::strcmp(kReasons[i], reason) == 0) {
      state().sampling.plan[kernel].push_back({cubin_crc, offset, i, samples});
    }
  }
}
FAKE_EXPORT void fake_set_sample_room(size_t places) { state().sampling.room = places; }
FAKE_EXPORT void fake_drop_samples(uint64_t samples) { state().sampling.dropped += samples; }
FAKE_EXPORT uint32_t fake_sample_setting(uint32_t attribute) {
  const Lock lock(state().mutex);
  return setting(attribute);
}
