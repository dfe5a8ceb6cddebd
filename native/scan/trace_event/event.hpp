#pragma once
// One event as it stands in the buffer: what its keys said, before it is known what it is.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scan/trace_event/arg_keys.hpp"
#include "scan/trace_event/decimal.hpp"
#include "scan/trace_event/lexer.hpp"

namespace dctx::trace_event {

// What reading a value or an event ran into; counted once the event is kept.
struct EventNotes {
  uint32_t non_finite = 0;
  uint32_t coerced = 0;
  uint32_t wide_int = 0;
  uint32_t dup_key = 0;
  uint32_t trailing_comma = 0;
  bool repaired = false;
};

enum class TimeState : uint8_t { Missing, Fine, Bad };

struct EventArg {  // one key of args
  std::string_view key;
  Token value;
  Arg arg;
  bool replaced;  // by a later one of the same key
};

// The args of one event after the other, in file order, in the same memory.
class EventArgs {
 public:
  EventArg& next() {
    if (size_ == args_.size()) args_.resize(size_ * 2 + 16);
    return args_[size_++];
  }
  void clear() { size_ = 0; }
  size_t size() const { return size_; }
  EventArg& operator[](size_t i) { return args_[i]; }
  const EventArg& operator[](size_t i) const { return args_[i]; }
  const EventArg* begin() const { return args_.data(); }
  const EventArg* end() const { return args_.data() + size_; }

 private:
  std::vector<EventArg> args_;
  size_t size_ = 0;
};

struct Event {
  Token ph, cat, name, id, id2, scope, pid, tid;
  Token odd_args;  // args that are no object
  Micros ts, dur;
  TimeState has_ts = TimeState::Missing;
  TimeState has_dur = TimeState::Missing;
  bool empty = true;    // {}
  bool nested = false;  // a value that is not the args' is an array or an object
  EventArgs args;
  bool other_args = false;               // some of them have no column
  ArgSet present;                        // keys with a value of their column's type
  std::array<int64_t, kArgs> integer{};  // Integer columns
  std::array<double, kArgs> real{};      // Real columns
  std::array<uint32_t, kArgs> entry{};   // index in args
  EventNotes notes;

  void clear() {
    for (Token* const token : {&ph, &cat, &name, &id, &id2, &scope, &pid, &tid, &odd_args}) {
      token->form = Form::None;
      token->size = 0;
    }
    has_ts = has_dur = TimeState::Missing;
    empty = true;
    nested = false;
    args.clear();
    other_args = false;
    present.clear();
    notes = EventNotes();
  }

  const Token& value_of(Arg arg) const { return args[entry[static_cast<size_t>(arg)]].value; }
  int64_t integer_of(Arg arg) const { return integer[static_cast<size_t>(arg)]; }
};

// Reads the object at `p`; the results are those of Lexer's functions.
template <bool kLenient>
const char* read_event(const char* p, Lexer<kLenient>& lexer, Event& out);

extern template const char* read_event(const char*, Lexer<false>&, Event&);
extern template const char* read_event(const char*, Lexer<true>&, Event&);

}  // namespace dctx::trace_event
