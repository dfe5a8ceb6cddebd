#include "monitor/gpu/cupti/cupti.hpp"

#include <array>
#include <string>

#include "monitor/engine/clock.hpp"
#include "monitor/gpu/cupti/callback_ids.hpp"
#include "monitor/gpu/cupti/driver.hpp"
#include "monitor/gpu/cupti/pc_sampling.hpp"
#include "monitor/gpu/cupti/state.hpp"

namespace dctx::monitor::gpu {
namespace cupti {
namespace {

constexpr uint32_t kFlushForced = 1;
constexpr uint32_t kOldestInterface = 18;  // of CUPTI 11.8
// What a failure means for the user.
Status failure(const State& cupti, const std::string& what, Result result, Reason& reason) {
  const std::string told = what + ": " + cupti.library.result_text(result);
  switch (result) {
    case kMultipleSubscribers:
      tell(reason, told + ": another profiler has CUPTI");
      return Status::taken;
    case kInsufficientPrivileges:
    case kVirtualizedPrivileges:
      tell(reason, told + ": " + privileges_text());
      return Status::no_privilege;
    case kNotInitialized:
    case kUnknown:
      tell(reason, told + ": no driver that works, or one that is older than this CUPTI");
      return Status::no_driver;
    default:
      tell(reason, told);
      return Status::failed;
  }
}

Result clock_pair(const State& cupti, ClockPair& pair) {
  const Functions& f = cupti.library.functions();
  // The closest of a few readings.
  int64_t least = INT64_MAX;
  for (int i = 0; i < 4; ++i) {
    uint64_t device = 0;
    const int64_t before = Clock::now_ns();
    const Result result =
        cupti.several ? f.timestamp2(cupti.subscriber, &device) : f.timestamp(&device);
    const int64_t width = Clock::now_ns() - before;
    if (result != kSuccess) return result;
    if (width >= least) continue;
    least = width;
    pair = {before + width / 2, static_cast<int64_t>(device)};
  }
  return kSuccess;
}

void sync_clock(State& cupti) {
  if (cupti.own_clock) return;
  ClockPair pair{};
  if (clock_pair(cupti, pair) == kSuccess) cupti.offset_ns = pair.host_ns - pair.device_ns;
}

// The next interface is tried only when the library does not take this one.
bool refused_form(Result result) {
  constexpr Result kInvalidParameter = 1;
  constexpr Result kNotSupported = 27;
  return result == kInvalidParameter || result == kNotSupported || result == kInvalidOperation;
}

Result subscribe(State& cupti, std::string& holder) {
  const Functions& f = cupti.library.functions();
  std::array<char, kHolderName> name{};
  Result result = kInvalidOperation;
  const bool several_known = cupti.library.has_several();
  for (const bool several : {true, false}) {
    if (f.subscribe2 == nullptr || (several && !several_known)) continue;
    SubscriberParams params{};
    params.size = several ? kParamsSeveral : kParamsExclusive;
    params.name = "dctx";
    params.holder = name.data();
    params.holder_size = name.size();
    params.several = several ? 1 : 0;
    result = f.subscribe2(&cupti.subscriber, on_callback, nullptr, &params);
    name.back() = '\0';
    holder = name.data();
    cupti.several = several && result == kSuccess;
    if (!refused_form(result)) return result;
  }
  return f.subscribe(&cupti.subscriber, on_callback, nullptr);
}

Status probe(const Config& config, Reason& reason) {
  if (!driver_present()) {
    tell(reason, "no NVIDIA driver");
    return Status::no_driver;
  }
  State& cupti = state();
  const Status loaded = cupti.library.load(config.libraries, reason);
  if (loaded != Status::ok) return loaded;
  uint32_t number = 0;
  // Some tell no version without a driver that works: subscribing will tell why.
  const bool told = cupti.library.functions().get_version(&number) == kSuccess;
  if (told && number < kOldestInterface) {
    tell(reason, cupti.library.path() + " is CUPTI " + cupti.library.version() +
                     ": 11.8 or newer is needed");
    return Status::unsupported;
  }
  const int devices = listed_devices();
  tell(reason, "CUPTI " + cupti.library.version() + ", " + cupti.library.path() +
                   (devices > 0 ? ", devices: " + std::to_string(devices) : ""));
  return Status::ok;
}

Status open(const Host& host, const Config& config, Reason& reason) {
  State& cupti = state();
  if (cupti.subscriber != nullptr) {
    tell(reason, "CUPTI is open already");
    return Status::failed;
  }
  const Status probed = probe(config, reason);
  if (probed != Status::ok) return probed;
  std::string holder;
  const Result result = subscribe(cupti, holder);
  if (result != kSuccess) {
    cupti.subscriber = nullptr;
    const Status status = failure(cupti, "CUPTI cannot be subscribed to", result, reason);
    if (status == Status::taken && !holder.empty()) {
      tell(reason, std::string(reason.text) + " (" + holder + ")");
    }
    return status;
  }
  cupti.version = "CUPTI " + cupti.library.version();
  cupti.config = config;
  cupti.host.store(&host, std::memory_order_release);
  tell(reason, "");
  return Status::ok;
}

bool enable_callbacks(State& cupti) {
  const auto enable = cupti.library.functions().enable_callback;
  size_t launches = 0;
  for (const CallbackId& watched : kCallbackIds) {
    if (enable(1, cupti.subscriber, watched.domain, watched.id) != kSuccess) continue;
    cupti.kinds[watched.domain][watched.id] = static_cast<uint8_t>(watched.kind) + 1;
    if (watched.kind == ApiKind::launch) ++launches;
  }
  for (const ResourceId id : kResourceIds) enable(1, cupti.subscriber, kResource, id);
  return launches > 0;
}

Result set_kind(const State& cupti, uint32_t kind, bool on) {
  const Functions& f = cupti.library.functions();
  if (cupti.several) {
    return on ? f.enable2(cupti.subscriber, kind, nullptr)
              : f.disable2(cupti.subscriber, kind, nullptr);
  }
  return on ? f.enable(kind) : f.disable(kind);
}

// Kernels are recorded one after the other while their instructions are sampled.
std::array<uint32_t, 4> kinds() {
  const bool samples = PcSampling::instance().configured();
  return {samples ? kKernel : kConcurrentKernel, kMemcpy, kMemset, kMemcpyPeer};
}

Status start(Reason& reason) {
  State& cupti = state();
  const Functions& f = cupti.library.functions();
  if (!enable_callbacks(cupti)) {
    tell(reason, "CUPTI lets no launch be watched");
    return Status::unsupported;
  }
  // With several subscribers the clock is not one's own to set.
  cupti.own_clock = !cupti.several && f.timestamp_callback != nullptr &&
                    f.timestamp_callback(our_clock) == kSuccess;
  cupti.offset_ns = 0;
  sync_clock(cupti);
  Result result = cupti.several ? f.register_buffers2(cupti.subscriber, on_request2, on_complete2)
                                : f.register_buffers(on_request, on_complete);
  if (result != kSuccess) return failure(cupti, "CUPTI takes no buffers", result, reason);
  for (const uint32_t kind : kinds()) {
    result = set_kind(cupti, kind, true);
    if (result == kSuccess || kind == kMemcpyPeer) continue;  // old ones tell such copies as others
    return failure(cupti, "CUPTI records no GPU work", result, reason);
  }
  if (cupti.config.graphs == GraphMode::launch) {
    result = set_kind(cupti, kGraphTrace, true);
    if (result != kSuccess) {
      const Host* const host = cupti.host.load();
      if (host != nullptr) {
        host->log_once("this CUPTI records no whole graphs: their nodes are recorded instead");
      }
    }
  }
  return Status::ok;
}

Status flush(bool force) {
  State& cupti = state();
  if (cupti.host.load() == nullptr) return Status::ok;
  sync_clock(cupti);
  const Result result = cupti.library.functions().flush_all(force ? kFlushForced : 0);
  return result == kSuccess ? Status::ok : Status::failed;
}

Status stop() {
  State& cupti = state();
  if (cupti.host.load() == nullptr) return Status::ok;
  flush(true);
  for (const uint32_t kind : kinds()) set_kind(cupti, kind, false);
  if (cupti.config.graphs == GraphMode::launch) set_kind(cupti, kGraphTrace, false);
  return Status::ok;
}

Status close() {
  State& cupti = state();
  if (cupti.subscriber == nullptr) return Status::ok;
  cupti.host.store(nullptr, std::memory_order_release);
  const Result result = cupti.library.functions().unsubscribe(cupti.subscriber);
  cupti.subscriber = nullptr;
  cupti.several = false;
  for (auto& domain : cupti.kinds) domain.fill(0);
  return result == kSuccess ? Status::ok : Status::failed;
}

Status clock_sync(ClockPair* pairs, size_t capacity, size_t& count) {
  State& cupti = state();
  count = 0;
  if (cupti.host.load() == nullptr || capacity == 0) return Status::ok;
  if (clock_pair(cupti, pairs[0]) != kSuccess) return Status::failed;
  count = 1;
  return Status::ok;
}

uint32_t caps() {
  State& cupti = state();
  uint32_t found = kKernels | kCopies;
  if (cupti.library.functions().graph_node_id != nullptr) found |= kGraphNodes;
  if (cupti.library.has_several()) found |= kSeveralSubscribers;
  if (cupti.library.symbol("cuptiPCSamplingEnable") != nullptr) {
    found |= kPcContinuous | kPcSerialized;
  }
  return found;
}

const char* version() { return state().version.c_str(); }

Status pc_config(const PcConfig& config, Reason& reason) {
  return PcSampling::instance().configure(state().library, config, reason);
}

Status pc_start(Reason&) {
  const Host* const host = state().host.load();
  if (host != nullptr) PcSampling::instance().start(*host);
  return host != nullptr ? Status::ok : Status::failed;
}

Status pc_stop() {
  PcSampling::instance().stop();
  return Status::ok;
}

Status pc_read() {
  PcSampling::instance().read();
  return Status::ok;
}

// The child's copy of CUPTI is of no use: its threads are the parent's.
void forked() {
  PcSampling::instance().forked();
  State& cupti = state();
  cupti.host.store(nullptr, std::memory_order_release);
  cupti.subscriber = nullptr;
}

}  // namespace
}  // namespace cupti

const Provider& cupti_provider() {
  static const Provider provider = [] {
    Provider table;
    table.name = "cupti";
    table.probe = cupti::probe;
    table.open = cupti::open;
    table.start = cupti::start;
    table.stop = cupti::stop;
    table.close = cupti::close;
    table.flush = cupti::flush;
    table.clock_sync = cupti::clock_sync;
    table.caps = cupti::caps;
    table.version = cupti::version;
    table.pc_config = cupti::pc_config;
    table.pc_start = cupti::pc_start;
    table.pc_stop = cupti::pc_stop;
    table.pc_read = cupti::pc_read;
    table.forked = cupti::forked;
    return table;
  }();
  return provider;
}

}  // namespace dctx::monitor::gpu
