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
  const char* begin = nullptr;
  const char* end = nullptr;  // where it was not listed
  Token ph, cat, name, id, id2, scope, pid, tid;
  Token odd_args;  // args that are no object
  Micros ts, dur;
  TimeState has_ts = TimeState::Missing;
  TimeState has_dur = TimeState::Missing;
  bool empty = true;    // {}
  bool nested = false;  // a value that is not the args' is an array or an object
  EventArgs args;
  bool listed = true;                    // in `args`; else those with a text or an odd value are
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
      token->id = -1;
      token->seen = nullptr;
    }
    has_ts = has_dur = TimeState::Missing;
    empty = true;
    nested = false;
    args.clear();
    listed = true;
    other_args = false;
    present.clear();
    notes = EventNotes();
  }

  const Token& value_of(Arg arg) const { return args[entry[static_cast<size_t>(arg)]].value; }
  int64_t integer_of(Arg arg) const { return integer[static_cast<size_t>(arg)]; }
};

enum class ValueKind : uint8_t {
  Field,  // of the event, kept as it stands
  Name,   // the same: of the event
  Place,  // pid or tid
  Ts,
  Dur,
  Skipped,  // of an unknown key
  Integer,  // from here on: of args, by type of the column
  Real,
  Text,
  OtherArg,  // no column
  End,       // no value: the event's end
};

// Where the values of a sound event stand, in the order of the file.
struct Trail {
  struct Mark {
    ValueKind kind = ValueKind::End;
    Arg arg = Arg::Other;
    Token Event::* field = nullptr;
    std::string_view key;
    const char* begin = nullptr;
    const char* end = nullptr;
  };
  static constexpr size_t kMost = 64;

  void clear() {
    size = 0;
    learnable = true;
  }
  void add(const Mark& mark) {
    if (size < kMost) {
      marks[size++] = mark;
    } else {
      learnable = false;
    }
  }

  std::array<Mark, kMost> marks;
  size_t size = 0;
  bool learnable = true;
};

// Reads the object at `p`; the results are those of Lexer's functions. `trail` may be nullptr.
template <bool kLenient>
const char* read_event(const char* p, Lexer<kLenient>& lexer, Event& out, Trail* trail = nullptr);

extern template const char* read_event(const char*, Lexer<false>&, Event&, Trail*);
extern template const char* read_event(const char*, Lexer<true>&, Event&, Trail*);

// Whether the value is one of the column, or nothing at all (then it is not kept as text either).
bool take_value(const Token& token, ArgKey key, Event& out);
void take_time(const Token& token, Micros& value, TimeState& state, EventNotes& notes);

}  // namespace dctx::trace_event
