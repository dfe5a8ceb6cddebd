#include <string>

#include "monitor/engine/events.hpp"
#include "monitor/engine/open_events.hpp"
#include "tree/name_key.hpp"

namespace dctx::monitor {
namespace {

constexpr std::string_view kEvaluation = "autograd::engine::evaluate_function: ";
constexpr std::string_view kStep = "Optimizer.step#";

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

void tell_marker() {
  if (Registry::instance().step_marker() == 0) return;
  const auto told = marker_ended.load(std::memory_order_acquire);
  if (told != nullptr) told();
}

EventName operator_name(ThreadRecord& record, const char* name) {
  return record.names.find(name, [](std::string_view text, std::string_view* kept) {
    StringTable& strings = Registry::instance().strings();
    const uint32_t label = strings.intern(text);
    *kept = strings.text(label);
    return EventName{label, starts_with(text, kEvaluation), false};
  });
}

uint32_t scope_label(std::string_view name) {
  std::string key;
  name_key(name, key);
  return Registry::instance().strings().intern(key);
}

EventName scope_name(ThreadRecord& record, const char* name) {
  const std::string_view text = name != nullptr ? name : "";
  return record.scope_names.find(text, Registry::step_marker(), [&] {
    const uint32_t label = scope_label(text);
    const uint32_t marker = Registry::step_marker();
    return EventName{label, false, marker != 0 ? label == marker : starts_with(text, kStep)};
  });
}

void scope_ended_unrecorded(const char* name) {
  if (marker_ended.load(std::memory_order_relaxed) == nullptr) return;
  const uint32_t marker = Registry::instance().step_marker();
  if (marker != 0 && marker == scope_label(name != nullptr ? name : "")) tell_marker();
}

}  // namespace dctx::monitor
