// The array of events: each is read strictly, then with a guess at its damage, then given up.
#include "scan/trace_event/event_stream.hpp"
#include "scan/trace_event/lexer.hpp"

namespace dctx::trace_event {

EventStream::Step EventStream::events() {
  const char* p = skip_blanks(here());
  while (*p == ',') p = skip_blanks(p + 1);
  go_to(p);
  if (p >= end()) return Step::NeedMore;
  if (*p == '{') return event();
  if (*p == ']' || *p == '}') {
    if (!sight().holds(p, kWindow)) return Step::NeedMore;
    const bool stray = is_stray(p, sight());
    if (stray || *p == '}') router_.report().add(Reason::Unclosed, offset());
    if (!stray) state_ = in_object_ && *p == ']' ? State::Object : State::Top;
    ++at_;
    return Step::Go;
  }
  if (*p == '[') {  // events in a list of their own
    router_.add_empty(offset());
    ++at_;
    return Step::Go;
  }
  if (in_object_ && *p == '"') {
    if (!sight().holds(p, kWindow)) return Step::NeedMore;
    std::string_view key;
    if (match_key_near(p, sight(), key) != nullptr && is_envelope_key(key)) {
      router_.report().add(Reason::Unclosed, offset());
      state_ = State::Object;
      return Step::Go;
    }
  }
  return scalar_element();
}

EventStream::Step EventStream::scalar_element() {
  Lexer<false> lexer(end(), inner_depth(limits_));
  Token token;
  const char* const stop = lexer.value(here(), Within::Array, token);
  const char* const reached = stop == nullptr ? lexer.failed_at : skip_blanks(stop);
  if (beyond(reached, limits_.max_event_bytes)) return lost(Reason::TooBig, {nullptr, false});
  if (reached >= end() && !last_) return Step::NeedMore;
  if (stop != nullptr && (*reached == ',' || *reached == ']')) {
    router_.add_empty(offset());
    go_to(stop);
    return Step::Go;
  }
  const bool cut = stop == nullptr && reached >= end();
  return lost(cut ? Reason::Truncated : Reason::Lost, {nullptr, false});
}

// Goes on at `next`, or searches.
EventStream::Step EventStream::lost(Reason reason, Found next) {
  router_.report().add(reason, offset());
  if (next.found) {
    found_again(next.at);
  } else {
    before_ = *here();
    ++at_;
    state_ = State::FindEvent;
  }
  return Step::Go;
}

void EventStream::found_again(const char* p) {
  go_to(p);
  resynced_ = *p == '{';
  search_ = State::FindEvent;
  state_ = State::Events;
}

bool EventStream::known_event() {
  const char* const stop = layouts_.read(here(), end(), inner_depth(limits_), event_);
  if (stop == nullptr || beyond(stop, limits_.max_event_bytes)) return false;
  if (resynced_ && event_.ph.form == Form::None) return false;
  resynced_ = false;
  if (layout_ == Layout::None) layout_ = Layout::Object;  // the array's key was damaged
  router_.add(event_, offset(), false);
  if (router_.missed_list()) layouts_.list_args();
  go_to(stop);
  return true;
}

EventStream::Step EventStream::event() {
  if (known_event()) return Step::Go;
  Lexer<false> lexer(end(), inner_depth(limits_));
  const bool learns = layouts_.may_learn();
  const char* const stop = read_event(here(), lexer, event_, learns ? &trail_ : nullptr);
  if (beyond(stop == nullptr ? lexer.failed_at : stop, limits_.max_event_bytes)) {
    return lost(Reason::TooBig, {nullptr, false});
  }
  // A bracket too many can make the next events a value of this one.
  const bool swallows =
      stop != nullptr && event_.nested && find_again(here() + 1, '{', {stop, true}, kEvent).found;
  if (swallows) return event_leniently(false);
  if (stop != nullptr) {
    const bool searched = resynced_;
    resynced_ = false;
    if (searched && event_.ph.form == Form::None) {  // an object inside a lost event
      before_ = '{';
      ++at_;
      state_ = search_;
      return Step::Go;
    }
    if (layout_ == Layout::None) layout_ = Layout::Object;  // the array's key was damaged
    const bool sound = !event_.nested && !lexer.repaired && event_.notes.dup_key == 0 &&
                       event_.notes.trailing_comma == 0;
    if (learns && sound) layouts_.learn(here(), stop, trail_);
    router_.add(event_, offset(), false);
    go_to(stop);
    return Step::Go;
  }
  if (lexer.too_big) return lost(Reason::TooBig, {nullptr, false});
  if (lexer.at_end() && !last_) return Step::NeedMore;
  return event_leniently(lexer.at_end());
}

// A damaged event may not reach into the next one: it is read from a copy that ends there.
EventStream::Step EventStream::event_leniently(bool cut) {
  Found next = find_again(here() + 1, '{', sight(), kEvent | kEndOfEvents);
  auto room = static_cast<size_t>(next.at - here());
  if (room > limits_.max_event_bytes) {
    room = limits_.max_event_bytes;
    next.found = false;
  } else if (!next.found && !last_) {
    return Step::NeedMore;
  }
  resynced_ = false;
  scratch_.assign(here(), room);
  scratch_.append(kPadding, '\0');
  const char* const begin = scratch_.data();
  Lexer<true> lexer(begin + room, inner_depth(limits_));
  const char* const stop = read_event(begin, lexer, event_);
  if (stop != nullptr && event_.ph.form != Form::None) {
    router_.add(event_, offset(), true);
    at_ += static_cast<size_t>(stop - begin);
    return Step::Go;
  }
  if (lexer.too_big) return lost(Reason::TooBig, next);
  return lost(cut && !next.found ? Reason::Truncated : Reason::Lost, next);
}

EventStream::Step EventStream::find_event_again() {
  const Found next = find_again(here(), before_, sight(), kEvent | kEndOfEvents);
  before_ = byte_before(here(), next.at, before_);
  go_to(next.at);
  if (!next.found) return Step::NeedMore;
  found_again(next.at);
  return Step::Go;
}

}  // namespace dctx::trace_event
