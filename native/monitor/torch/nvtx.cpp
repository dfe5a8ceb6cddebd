#include "monitor/torch/nvtx.hpp"

#include <atomic>
#include <charconv>
#include <utility>

#include "monitor/engine/events.hpp"
#include "monitor/engine/registry.hpp"
#include "monitor/torch/hook_cost.hpp"
#include "monitor/torch/nvtx_abi.hpp"

namespace dctx::monitor {
namespace {

constexpr std::string_view kSequence = ", seq = ";
constexpr std::string_view kOperatorId = ", op_id = ";
constexpr std::string_view kEngine = "autograd::engine::";

enum class Range : uint8_t { skipped, scope, operation, evaluation };

struct OpenRange {
  const void* identity;  // lies in the frame of the push, as native frames are counted from it
  Range kind = Range::skipped;
  std::string unrecorded;  // the name, where nothing is recorded but its end may end a step
};

struct ThreadRanges {
  std::vector<OpenRange> open;
  std::string name;
  bool probes = false;
  std::vector<std::string> probed;
};

std::atomic<bool> installed_{false};
std::atomic<bool> listens{false};
thread_local ThreadRanges ranges;

// The number behind the last `mark`, where nothing but digits follows; takes both off the text.
int64_t take_number(std::string_view* text, std::string_view mark) {
  const size_t at = text->rfind(mark);
  if (at == std::string_view::npos) return -1;
  const std::string_view digits = text->substr(at + mark.size());
  const char* const end = digits.data() + digits.size();
  int64_t number = -1;
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || stop != end || number < 0) return -1;
  *text = text->substr(0, at);
  return number;
}

// The text says nothing of the kind. Operators have a number, a namespace, or another operator
// around them and one word for a name.
bool is_operator(const NvtxText& text, Range around) {
  if (text.sequence >= 0 || text.name.substr(0, kEngine.size()) == kEngine) return true;
  if (text.name.find(' ') != std::string_view::npos) return false;
  return around >= Range::operation || text.name.find("::") != std::string_view::npos;
}

void begin(ThreadRecord& record, OpenRange& range, Range around, std::string_view message) {
  const NvtxText text = parse_nvtx(message);
  ranges.name = text.name;
  const char* const name = ranges.name.c_str();
  range.kind = Range::operation;
  if (around != Range::evaluation && !is_operator(text, around)) {
    // Several scopes may be pushed from one place of the stack: their depth tells them apart.
    range.identity = reinterpret_cast<const void*>(ranges.open.size());
    range.kind = Range::scope;
    begin_scope(record, range.identity, scope_name(record, name));
    return;
  }
  const EventName operation = operator_name(record, name);
  if (around == Range::evaluation) {
    // Sequence numbers are those of a thread, which the text does not tell: there is no link.
    begin_backward(record, range.identity, operation, {});
  } else if (operation.evaluates_backward) {
    range.kind = Range::evaluation;
    begin_evaluation(record, range.identity, operation);
  } else {
    begin_operator(record, range.identity, operation, text.sequence);
  }
}

void begin_open(OpenRange& range, Range around, const char* message) {
  if (ranges.probes) {
    ranges.probed.emplace_back(message);
  } else if (!listens.load(std::memory_order_relaxed)) {
    return;
  } else if (!Registry::active()) {
    if (marker_ended.load(std::memory_order_relaxed) != nullptr) {
      range.unrecorded = parse_nvtx(message).name;
    }
  } else if (ThreadRecord* const record = Registry::current(); record != nullptr) {
    const Timed timed(*record);
    begin(*record, range, around, message);
  }
}

// NVTX wants how many ranges are open around this one. Memory may be out: a range is lost then,
// never the program.
int push(const char* message, const void* identity) noexcept {
  try {
    const Range around = ranges.open.empty() ? Range::skipped : ranges.open.back().kind;
    OpenRange& range = ranges.open.emplace_back(OpenRange{identity, Range::skipped, {}});
    if (message != nullptr) begin_open(range, around, message);
  } catch (...) {
    Registry::instance().losses().add(Loss::drops);
  }
  return static_cast<int>(ranges.open.size()) - 1;
}

void end(const OpenRange& range) {
  if (!range.unrecorded.empty()) scope_ended_unrecorded(range.unrecorded.c_str());
  if (range.kind == Range::skipped) return;
  if (ThreadRecord* const record = Registry::current_if_any(); record != nullptr) {
    const Timed timed(*record);
    end_event(*record, range.identity);
  } else if (Registry::active()) {
    Registry::instance().losses().add(Loss::late_ends);
  }
}

int range_push(const char* message) { return push(message, __builtin_frame_address(0)); }

// Torch pushes plain texts alone: others are counted, so that each pop finds its own.
int other_push(const void*) { return push(nullptr, nullptr); }

int range_pop() noexcept {
  if (ranges.open.empty()) return -1;
  const OpenRange range = std::move(ranges.open.back());
  ranges.open.pop_back();
  try {
    end(range);
  } catch (...) {
    Registry::instance().losses().add(Loss::drops);
  }
  return static_cast<int>(ranges.open.size());
}

bool install(nvtx::GetExportTable get_table) {
  if (get_table == nullptr) return false;
  const auto* const callbacks = static_cast<const nvtx::Callbacks*>(get_table(nvtx::kCallbacks));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return false;
  nvtx::FunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->module_functions(nvtx::kCore, &table, &size) == 0 || table == nullptr ||
      size <= nvtx::kRangePop) {
    return false;
  }
  *table[nvtx::kRangePushEx] = reinterpret_cast<nvtx::Function>(other_push);
  *table[nvtx::kRangePushA] = reinterpret_cast<nvtx::Function>(range_push);
  *table[nvtx::kRangePushW] = reinterpret_cast<nvtx::Function>(other_push);
  *table[nvtx::kRangePop] = reinterpret_cast<nvtx::Function>(range_pop);
  installed_ = true;
  return true;
}

}  // namespace

NvtxText parse_nvtx(std::string_view text) {
  NvtxText parsed;
  take_number(&text, kOperatorId);
  parsed.sequence = take_number(&text, kSequence);
  parsed.name = text;
  return parsed;
}

bool TorchNvtx::installed() { return installed_; }

void TorchNvtx::listen(bool on) { listens = on; }

void TorchNvtx::begin_probe() {
  ranges.probed.clear();
  ranges.probes = true;
}

std::vector<std::string> TorchNvtx::end_probe() {
  ranges.probes = false;
  return std::move(ranges.probed);
}

}  // namespace dctx::monitor

// What NVTX calls in the library that it was told to load: 1 when ranges are wanted.
extern "C" [[gnu::visibility("default"), gnu::used]] int InitializeInjectionNvtx2(
    dctx::monitor::nvtx::GetExportTable get_table) {
  return dctx::monitor::install(get_table) ? 1 : 0;
}
