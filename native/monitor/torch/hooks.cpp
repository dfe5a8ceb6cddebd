#include "monitor/torch/hooks.hpp"

#include <atomic>
#include <cstring>

#include "monitor/engine/events.hpp"
#include "monitor/engine/registry.hpp"
#include "monitor/torch/arguments.hpp"
#include "monitor/torch/hook_cost.hpp"
#include "monitor/torch/memory.hpp"

namespace dctx::monitor {
namespace {

constexpr int64_t kHighestSequence = int64_t{1} << 48;
constexpr uint64_t kHighestThread = uint64_t{1} << 32;

enum class Violation : uint8_t { none, scope, sequence, thread };

// What every hook asks, side by side. Written before the callbacks are registered; torch's
// registration orders the two.
struct alignas(64) Bound {
  EventLayout layout;
  bool notes_arguments = false;
  std::atomic<bool> association{false};
  std::atomic<Violation> met{Violation::none};
  TorchSymbols torch;
};
Bound bound;

template <class T>
T read(const TorchEvent& event, int32_t offset) {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(&event) + offset, sizeof value);
  return value;
}

// A value that the layout does not allow: what was calibrated is not what runs.
void give_up(Violation violation) {
  Violation none = Violation::none;
  bound.met.compare_exchange_strong(none, violation);
  bound.association.store(false, std::memory_order_relaxed);
}

int64_t sequence_of(const TorchEvent& event) {
  if (!bound.association.load(std::memory_order_relaxed)) return -1;
  const int64_t sequence = read<int64_t>(event, bound.layout.sequence);
  if (sequence >= -1 && sequence < kHighestSequence) return sequence;
  give_up(Violation::sequence);
  return -1;
}

ForwardLink link_of(const TorchEvent& event) {
  ForwardLink link;
  link.sequence = sequence_of(event);
  if (link.sequence < 0) return link;
  const uint64_t thread = read<uint64_t>(event, bound.layout.forward_thread);
  if (thread == 0 || thread >= kHighestThread) {
    give_up(Violation::thread);
    return {};
  }
  link.thread = Registry::instance().framework_thread(thread);
  return link;
}

bool is_scope(const TorchEvent& event) {
  return bound.layout.scope >= 0 && read<uint8_t>(event, bound.layout.scope) == kUserScope;
}

void begin(ThreadRecord* record, const TorchEvent& event) {
  if (record->framework_thread.load(std::memory_order_relaxed) == 0) {
    Registry::instance().set_framework_thread(*record, bound.torch.thread_id());
  }
  if (engine_state.memory.load(std::memory_order_relaxed)) TorchMemory::listen();
  const char* const text = bound.torch.name(&event);
  const uint8_t scope =
      bound.layout.scope >= 0 ? read<uint8_t>(event, bound.layout.scope) : uint8_t{kFunction};
  if (scope == kUserScope) {
    begin_scope(*record, &event, scope_name(*record, text));
    return;
  }
  if (scope >= kTorchScopes) give_up(Violation::scope);
  const EventName name = operator_name(*record, text);
  if (scope == kBackwardFunction) {
    begin_backward(*record, &event, name, link_of(event));
  } else if (name.evaluates_backward) {
    begin_evaluation(*record, &event, name);
  } else {
    begin_operator(*record, &event, name, sequence_of(event));
  }
  if (bound.notes_arguments) note_arguments(*record, bound.torch, event);
}

}  // namespace

TorchHooks& TorchHooks::instance() {
  static TorchHooks hooks;
  return hooks;
}

void TorchHooks::attach(const TorchSymbols& symbols, EventLayout offsets, bool arguments) {
  if (attached_) return;
  bound.torch = symbols;
  bound.layout = offsets;
  bound.notes_arguments = arguments && symbols.input_sizes != nullptr;
  bound.met = Violation::none;
  bound.association = offsets.scope >= 0 && offsets.sequence >= 0 && offsets.forward_thread >= 0;
  TorchCallback callback;
  callback.start = on_start;
  callback.end = on_end;
  callback.needs_inputs = bound.notes_arguments;
  callback.scopes[kFunction] = true;
  callback.scopes[kBackwardFunction] = true;
  callback.scopes[kUserScope] = true;
  handle_ = bound.torch.add_callback(callback);
  attached_ = true;
}

// Ends of events that are open may still arrive: this library is never unloaded.
void TorchHooks::detach() {
  if (!attached_) return;
  bound.torch.remove_callback(handle_);
  attached_ = false;
}

bool TorchHooks::associates() const { return bound.association.load(std::memory_order_relaxed); }

std::string TorchHooks::violation() const {
  switch (bound.met.load()) {
    case Violation::none:
      return "";
    case Violation::scope:
      return "an event of a kind that torch does not have";
    case Violation::sequence:
      return "a sequence number out of range";
    case Violation::thread:
      return "a backward operator without the thread of its forward operator";
  }
  return "";
}

// Memory may be out: an event is lost then, never the program.
NoContext TorchHooks::on_start(const TorchEvent& event) {
  try {
    ThreadRecord* const record = Registry::active() ? Registry::current() : nullptr;
    if (record == nullptr) return {};
    const Timed timed(*record);
    begin(record, event);
  } catch (...) {
    Registry::instance().losses().add(Loss::drops);
  }
  return {};
}

void TorchHooks::on_end(const TorchEvent& event, void*) {
  ThreadRecord* const record = Registry::current_if_any();
  try {
    if (record != nullptr) {
      const Timed timed(*record);
      end_event(*record, &event);
    } else if (Registry::active()) {
      Registry::instance().losses().add(Loss::late_ends);
    } else if (is_scope(event)) {
      scope_ended_unrecorded(bound.torch.name(&event));
    }
  } catch (...) {
    Registry::instance().losses().add(Loss::drops);
  }
}

}  // namespace dctx::monitor
