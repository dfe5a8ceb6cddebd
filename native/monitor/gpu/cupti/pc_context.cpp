#include "monitor/gpu/cupti/pc_context.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string_view>

namespace dctx::monitor::gpu::cupti {
namespace {

constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_stalled_";
constexpr std::string_view kNotIssued = "_not_issued";
// The vendor's default of 512 MB is taken from the program's memory on the device.
constexpr size_t kHardwareBytes = size_t{64} << 20;
constexpr size_t kMostReasons = 256;

PcCall call_for(void* context, size_t size) { return {size, nullptr, context}; }

PcSetting setting(PcAttribute attribute, uint32_t number) {
  PcSetting out{};
  out.attribute = attribute;
  out.number = number;
  return out;
}

}  // namespace

StallReason stall_reason(const std::string& text) {
  std::string_view rest = text;
  if (rest.substr(0, kPrefix.size()) != kPrefix) return {text, false, false};
  rest.remove_prefix(kPrefix.size());
  const bool not_issued =
      rest.size() > kNotIssued.size() && rest.substr(rest.size() - kNotIssued.size()) == kNotIssued;
  if (not_issued) rest.remove_suffix(kNotIssued.size());
  return {std::string(rest), true, not_issued};
}

PcContext::PcContext(const PcFunctions& functions, void* context, uint32_t interface)
    : functions_(functions),
      context_(context),
      stride_(interface >= kFirstWithCorrelation ? sizeof(PcPlace) : kPcPlaceWithoutCorrelation) {
  if (functions_.device_of != nullptr) functions_.device_of(context, &device_);
}

Result PcContext::enable(const PcConfig& config) {
  const std::lock_guard<std::mutex> lock(mutex_);
  PcCall call = call_for(context_, sizeof call);
  Result result = functions_.enable(&call);
  if (result != kSuccess) return result;
  result = learn_reasons();
  if (result == kSuccess) result = configure(config);
  if (result != kSuccess) functions_.disable(&call);
  return result;
}

Result PcContext::learn_reasons() {
  size_t count = 0;
  PcReasonCountCall ask{call_for(context_, sizeof ask), &count};
  Result result = functions_.reason_count(&ask);
  if (result != kSuccess) return result;
  count = std::min(count, kMostReasons);
  std::vector<uint32_t> numbers(count);
  std::vector<std::array<char, kReasonText>> texts(count);
  std::vector<char*> places;
  for (auto& text : texts) places.push_back(text.data());
  PcReasonsCall call{call_for(context_, sizeof call), count, numbers.data(), places.data()};
  result = functions_.reasons(&call);
  if (result != kSuccess) return result;
  for (size_t i = 0; i < count; ++i) {
    if (numbers[i] >= kMostReasons) continue;
    texts[i].back() = '\0';
    if (numbers[i] >= reasons_.size()) reasons_.resize(numbers[i] + 1);
    reasons_[numbers[i]] = stall_reason(texts[i].data());
    if (reasons_[numbers[i]].counted) numbers_.push_back(numbers[i]);
  }
  return numbers_.empty() ? Result{kUnknown} : Result{kSuccess};
}

void PcContext::make_buffer() {
  const size_t each = numbers_.size();
  counts_.assign(kPlaces * each, {0, 0});
  places_.assign(kPlaces * stride_, 0);
  for (size_t i = 0; i < kPlaces; ++i) {
    PcPlace place{};
    place.size = stride_;
    place.reason_count = each;
    place.reasons = counts_.data() + i * each;
    std::memcpy(places_.data() + i * stride_, &place, stride_);
  }
  data_.size = sizeof data_;
  data_.room = kPlaces;
  data_.places = reinterpret_cast<PcPlace*>(places_.data());
}

Result PcContext::configure(const PcConfig& config) {
  make_buffer();
  std::vector<PcSetting> settings;
  settings.push_back(setting(kPcPeriod, config.period_exponent));
  settings.push_back(setting(kPcCollection, config.mode == PcMode::serialized
                                                ? uint32_t{kPcSerialized}
                                                : uint32_t{kPcContinuous}));
  settings.push_back(setting(kPcStartStop, config.mode == PcMode::per_launch ? 1 : 0));
  PcSetting hardware{};
  hardware.attribute = kPcHardwareSize;
  hardware.size = kHardwareBytes;
  settings.push_back(hardware);
  PcSetting reasons{};
  reasons.attribute = kPcReasons;
  reasons.reasons = {numbers_.size(), numbers_.data()};
  settings.push_back(reasons);
  PcSetting buffer{};
  buffer.attribute = kPcDataBuffer;
  buffer.buffer = &data_;
  settings.push_back(buffer);
  PcSettingsCall call{call_for(context_, sizeof call), settings.size(), settings.data()};
  const Result result = functions_.configure(&call);
  if (result != kSuccess) return result;
  for (const PcSetting& one : settings) {
    if (one.status != kSuccess) return one.status;
  }
  return kSuccess;
}

Result PcContext::disable() {
  const std::lock_guard<std::mutex> lock(mutex_);
  PcCall call = call_for(context_, sizeof call);
  return functions_.disable(&call);
}

Result PcContext::start() {
  PcCall call = call_for(context_, sizeof call);
  return functions_.start(&call);
}

Result PcContext::stop() {
  PcCall call = call_for(context_, sizeof call);
  return functions_.stop(&call);
}

Result PcContext::read(const Host& host, uint64_t where, PcLosses& losses) {
  const std::lock_guard<std::mutex> lock(mutex_);
  do {
    PcDataCall call{call_for(context_, sizeof call), &data_};
    const Result result = functions_.read(&call);
    // Out of memory: the device's own buffer was full; what is there is told all the same.
    if (result != kSuccess && result != kOutOfMemory) return result;
    losses.dropped += data_.dropped;
    losses.hardware_full = losses.hardware_full || data_.hardware_full != 0;
    for (size_t i = 0; i < data_.count && i < kPlaces; ++i) {
      PcPlace place{};
      std::memcpy(&place, places_.data() + i * stride_, stride_);
      tell(host, place, where);
    }
    if (data_.count == 0) break;
  } while (data_.remaining > 0);
  return kSuccess;
}

void PcContext::tell(const Host& host, const PcPlace& place, uint64_t where) {
  std::vector<PcRecord> records;
  std::vector<const std::string*> names;
  for (size_t i = 0; i < place.reason_count && i < numbers_.size(); ++i) {
    const PcReasonCount& count = place.reasons[i];
    if (count.samples == 0 || count.reason >= reasons_.size()) continue;
    const StallReason& reason = reasons_[count.reason];
    if (!reason.counted) continue;
    const auto known = std::find_if(names.begin(), names.end(),
                                    [&](const std::string* name) { return *name == reason.name; });
    const auto at = static_cast<size_t>(known - names.begin());
    if (at == records.size()) {
      PcRecord record;
      record.function_index = place.function_index;
      record.cubin_crc = place.cubin_crc;
      record.offset = place.offset;
      record.function = place.function;
      record.reason = reason.name.c_str();
      record.correlation = place.correlation;
      record.device = device_;
      record.context = where;
      records.push_back(record);
      names.push_back(&reason.name);
    }
    PcRecord& record = records[at];
    (reason.not_issued ? record.not_issued : record.samples) += count.samples;
  }
  if (!records.empty()) host.on_pc(records.data(), records.size());
}

}  // namespace dctx::monitor::gpu::cupti
