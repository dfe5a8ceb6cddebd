#include "monitor/gpu/cupti/pc_sampling.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "monitor/engine/registry.hpp"
#include "monitor/gpu/cupti/driver.hpp"
#include "monitor/gpu/cupti/privileges.hpp"

namespace dctx::monitor::gpu::cupti {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);  // between reads in continuous mode

// The launch that the thread samples; per_launch.
struct OpenLaunch {
  PcContext* sampled = nullptr;
  uint64_t where = kNoContext;
};
thread_local OpenLaunch open_launch;

template <class Function>
bool find(const Library& library, const char* name, Function& place) {
  void* const address = library.symbol(name);
  std::memcpy(&place, &address, sizeof place);
  return address != nullptr;
}

}  // namespace

PcSampling& PcSampling::instance() {
  static PcSampling* const only = new PcSampling;
  return *only;
}

Status PcSampling::configure(const Library& library, const PcConfig& config, Reason& reason) {
  config_ = config;
  refused_ = false;
  if (config.mode == PcMode::off) return Status::ok;
  PcFunctions f;
  const bool whole = find(library, "cuptiPCSamplingEnable", f.enable) &&
                     find(library, "cuptiPCSamplingDisable", f.disable) &&
                     find(library, "cuptiPCSamplingStart", f.start) &&
                     find(library, "cuptiPCSamplingStop", f.stop) &&
                     find(library, "cuptiPCSamplingSetConfigurationAttribute", f.configure) &&
                     find(library, "cuptiPCSamplingGetData", f.read) &&
                     find(library, "cuptiPCSamplingGetNumStallReasons", f.reason_count) &&
                     find(library, "cuptiPCSamplingGetStallReasons", f.reasons) &&
                     find(library, "cuptiGetCubinCrc", f.cubin_crc);
  find(library, "cuptiGetDeviceId", f.device_of);
  library.functions().get_version(&interface_);
  Status status = Status::ok;
  if (!whole) {
    tell(reason, "this CUPTI does not sample instructions");
    status = Status::no_symbols;
  } else if (config.mode == PcMode::serialized && interface_ < kFirstWithCorrelation) {
    tell(reason, "serialized sampling of instructions needs CUPTI 12.4 or newer, this is " +
                     library.version());
    status = Status::unsupported;
  } else if (!may_sample()) {
    tell(reason, "instructions are not sampled: " + privileges_text());
    status = Status::no_privilege;
  }
  if (status != Status::ok) config_.mode = PcMode::off;
  functions_ = f;
  return status;
}

void PcSampling::start(const Host& host) {
  if (!configured()) return;
  host_.store(&host, std::memory_order_release);
  if (config_.mode != PcMode::continuous) return;
  ending_ = false;
  // The reader takes no signal: those are the program's.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    reader_ = std::thread([this] { run(); });
  } catch (...) {
    host.log_once("no thread reads samples of instructions: they are read at the end");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void PcSampling::run() {
  pthread_setname_np(pthread_self(), "dctx-samples");
  std::unique_lock<std::mutex> lock(wake_mutex_);
  while (!wake_.wait_for(lock, kInterval, [this] { return ending_; })) {
    lock.unlock();
    read();
    lock.lock();
  }
}

void PcSampling::stop() {
  if (reader_.joinable()) {
    {
      const std::lock_guard<std::mutex> lock(wake_mutex_);
      ending_ = true;
    }
    wake_.notify_all();
    reader_.join();
  }
  read();
  const std::lock_guard<std::mutex> lock(mutex_);
  host_.store(nullptr, std::memory_order_release);
  for (const auto& context : contexts_) context->disable();
  contexts_.clear();
  launches_.clear();
}

// The reader is the parent's, as are the contexts; its object and theirs are given up.
void PcSampling::forked() {
  host_.store(nullptr, std::memory_order_release);
  new (&mutex_) std::mutex;
  new (&wake_mutex_) std::mutex;
  new (&wake_) std::condition_variable;
  new (&reader_) std::thread;
  for (auto& context : contexts_) static_cast<void>(context.release());
  contexts_.clear();
}

void PcSampling::refuse(const char* what, Result result) {
  const Host* const host = host_.load(std::memory_order_acquire);
  if (refused_.exchange(true) || host == nullptr) return;
  std::string text = std::string("instructions are not sampled: the driver refuses to ") + what +
                     " (result " + std::to_string(result) + ")";
  if (result == kInsufficientPrivileges || result == kVirtualizedPrivileges) {
    text = "instructions are not sampled: " + privileges_text();
  }
  host->log_once(text.c_str());
}

PcContext* PcSampling::sampled(void* context) {
  if (!on() || context == nullptr || refused_.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& known : contexts_) {
    if (known->context() == context) return known.get();
  }
  auto fresh = std::make_unique<PcContext>(functions_, context, interface_);
  const Result result = fresh->enable(config_);
  if (result != kSuccess) {
    refuse("sample", result);
    return nullptr;
  }
  contexts_.push_back(std::move(fresh));
  return contexts_.back().get();
}

void PcSampling::read_one(PcContext& context, uint64_t where) {
  const Host* const host = host_.load(std::memory_order_acquire);
  if (host == nullptr) return;
  PcLosses losses;
  const Result result = context.read(*host, where, losses);
  if (result != kSuccess) refuse("hand over samples", result);
  if (losses.dropped > 0) {
    Registry::instance().losses().add(Loss::instructions_dropped, losses.dropped);
  }
  if (losses.hardware_full) {
    host->log_once(
        "the device's buffer for samples of instructions was full: sample less often "
        "(--pc-period)");
  }
}

void PcSampling::read() {
  if (!on()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& context : contexts_) read_one(*context, kNoContext);
}

void PcSampling::context_seen(void* context) {
  try {
    sampled(context);
  } catch (...) {
    return;  // memory is out: asked again at the first launch
  }
}

void PcSampling::context_ending(void* context) {
  if (!on()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(contexts_.begin(), contexts_.end(),
                                  [&](const auto& known) { return known->context() == context; });
  if (found == contexts_.end()) return;
  read_one(**found, kNoContext);
  (*found)->disable();
  contexts_.erase(found);
}

void PcSampling::module_loaded(const void* cubin, size_t bytes) {
  const Host* const host = host_.load(std::memory_order_acquire);
  if (host == nullptr || cubin == nullptr) return;
  CubinCrcCall call{sizeof call, bytes, cubin, 0};
  if (functions_.cubin_crc(&call) == kSuccess) host->on_module(cubin, bytes, call.crc);
}

bool PcSampling::wanted(const char* symbol) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return launches_[symbol != nullptr ? symbol : ""]++ % config_.launch_every == 0;
}

void PcSampling::launch_begins(void* context, const char* symbol, uint64_t where) {
  if (!on()) return;
  try {
    PcContext* const own = sampled(context);
    if (own == nullptr || config_.mode != PcMode::per_launch || open_launch.sampled != nullptr) {
      return;
    }
    if (wanted(symbol) && own->start() == kSuccess) open_launch = {own, where};
  } catch (...) {
    return;  // memory is out: this launch is not sampled
  }
}

void PcSampling::launch_ends(void* context) {
  if (!on()) return;
  if (config_.mode == PcMode::per_launch) {
    const OpenLaunch launch = std::exchange(open_launch, OpenLaunch{});
    if (launch.sampled == nullptr) return;
    const Result result = launch.sampled->stop();
    if (result != kSuccess) refuse("stop", result);
    read_one(*launch.sampled, launch.where);
  } else if (config_.mode == PcMode::serialized) {
    if (PcContext* const own = sampled(context); own != nullptr) read_one(*own, kNoContext);
  }
}

}  // namespace dctx::monitor::gpu::cupti
