#include "scan/trace_event/event_stream.hpp"

#include <algorithm>
#include <cstring>

#include "scan/trace_event/json_repair.hpp"
#include "scan/trace_event/lexer.hpp"
#include "scan/trace_event/resync.hpp"

namespace dctx::trace_event {
namespace {

constexpr size_t kSlice = size_t{1} << 18;       // read at once: it stays in the cache
constexpr size_t kRetry = size_t{1} << 12;       // bytes to wait for before trying again, at least
constexpr size_t kLookahead = 512;               // bytes behind an event that repairs may look at
constexpr size_t kWholeValue = size_t{1} << 20;  // longer values of the envelope are not kept
constexpr size_t kMetadataBytes = size_t{16} << 20;
constexpr size_t kMetadataKeys = 10'000;
constexpr size_t kOuterLevels = 2;  // the event and its args

size_t inner_depth(const Limits& limits) {
  return std::min<size_t>(64, limits.max_depth) - kOuterLevels;
}

}  // namespace

EventStream::EventStream(const Limits& limits) : limits_(limits), router_(limits) {
  limits_.max_depth = std::max<size_t>(limits.max_depth, kOuterLevels + 1);
}

void EventStream::feed(const char* data, size_t size) {
  while (size > 0) {
    const size_t slice = std::min(size, kSlice);
    append(data, slice);
    data += slice;
    size -= slice;
    if (size_ - at_ >= attempt_at_) drain(false);
  }
}

void EventStream::finish() {
  append(nullptr, 0);
  drain(true);
  if (state_ != State::Top && layout_ != Layout::None && layout_ != Layout::Lines &&
      router_.report()[Reason::Truncated].count == 0) {
    router_.report().add(Reason::Unclosed, bytes_read());
  }
  base_ += size_;
  at_ = size_ = capacity_ = 0;
  buffer_.reset();
  scratch_ = std::string();
}

void EventStream::append(const char* data, size_t size) {
  if (at_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + at_, size_ - at_);
    base_ += at_;
    size_ -= at_;
    at_ = 0;
  }
  if (size_ + size + kPadding > capacity_) {
    capacity_ = std::max(size_ + size + kPadding, std::max(capacity_ * 3 / 2, 2 * kSlice));
    std::unique_ptr<char[]> larger(new char[capacity_]);
    if (size_ > 0) std::memcpy(larger.get(), buffer_.get(), size_);
    buffer_ = std::move(larger);
  }
  if (size > 0) std::memcpy(buffer_.get() + size_, data, size);
  size_ += size;
  std::memset(buffer_.get() + size_, 0, kPadding);
}

void EventStream::drain(bool last) {
  while (step(last) == Step::Go) {
  }
  const size_t left = size_ - at_;
  attempt_at_ = left + std::max(left / 2, kRetry);
}

EventStream::Step EventStream::step(bool last) {
  switch (state_) {
    case State::Top:
      return top(last);
    case State::Object:
      return object(last);
    case State::Events:
      return events(last);
    case State::SkipValue:
      return skip_value();
    case State::FindEvent:
      return find_event_again(last);
    case State::FindKey:
      return find_key_again(last);
  }
  return Step::NeedMore;
}

// Whether an event stands at the top level: JSON lines, or events behind a brace too many.
bool EventStream::looks_like_lines(bool last, bool& undecided) {
  std::string_view key;
  const char* const first = skip_blanks(here() + 1);
  if (match_key(first, key) == nullptr) {
    undecided = !last && static_cast<size_t>(end() - first) < kLookahead;
    return false;
  }
  if (!is_event_key(key)) return false;
  Lexer<false> lexer(end(), inner_depth(limits_));
  if (read_event(here(), lexer, event_) != nullptr) {
    return event_.ph.form != Form::None && event_.has_ts != TimeState::Missing;
  }
  if (!lexer.at_end()) return layout_ != Layout::None;  // damaged, yet among events
  undecided = !last && size_ - at_ < kWholeValue;
  return last && layout_ != Layout::None;
}

EventStream::Step EventStream::top(bool last) {
  if (!any_text_) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    const std::string_view start(here(), std::min(kMark.size(), size_ - at_));
    if (start.size() < kMark.size() && !last && start == kMark.substr(0, start.size())) {
      return Step::NeedMore;
    }
    if (start == kMark) at_ += kMark.size();
    any_text_ = true;
  }
  const char* p = skip_blanks(here());
  while (p < end() && (*p == ',' || *p == '\0')) p = skip_blanks(p + 1);
  go_to(p);
  if (p >= end()) return Step::NeedMore;
  if (*p == '[') {
    if (layout_ == Layout::None) layout_ = Layout::List;
    in_object_ = false;
    state_ = State::Events;
    ++at_;
    return Step::Go;
  }
  if (*p == '{') {
    bool undecided = false;
    if (looks_like_lines(last, undecided)) {
      if (layout_ == Layout::None) layout_ = Layout::Lines;
      in_object_ = false;
      state_ = State::Events;
      return Step::Go;
    }
    if (undecided) return Step::NeedMore;
    state_ = State::Object;
    ++at_;
    return Step::Go;
  }
  if (*p != ']' && *p != '}') router_.report().add(Reason::Lost, offset());
  while (p < end() && *p != '[' && *p != '{') ++p;
  go_to(p);
  return Step::Go;
}

EventStream::Step EventStream::object(bool last) {
  const char* p = skip_blanks(here());
  while (*p == ',') p = skip_blanks(p + 1);
  go_to(p);
  if (p >= end()) return Step::NeedMore;
  if (*p == '}') {
    state_ = State::Top;
    ++at_;
    return Step::Go;
  }
  Lexer<false> lexer(end(), inner_depth(limits_));
  std::string_view key;
  const char* value = *p == '"' ? lexer.key(p, key) : lexer.fail(p);
  if (value != nullptr) value = skip_blanks(value);
  if (value == nullptr ? lexer.at_end() : value >= end()) {
    if (!last && size_ - at_ < kWholeValue) return Step::NeedMore;
    if (last) {
      router_.report().add(Reason::Truncated, offset());
      go_to(end());
      return Step::NeedMore;
    }
  }
  if (value == nullptr || value >= end()) {
    router_.report().add(Reason::BadMetadata, offset());
    state_ = State::FindKey;
    return Step::Go;
  }
  if (key == "traceEvents" && *value == '[') {
    layout_ = Layout::Object;
    in_object_ = true;
    state_ = State::Events;
    go_to(value + 1);
    return Step::Go;
  }
  return member(key, value, last);
}

EventStream::Step EventStream::member(std::string_view key, const char* value, bool last) {
  Lexer<false> strict(end(), inner_depth(limits_));
  Token token;
  if (const char* const stop = strict.value(value, Within::Object, token)) {
    keep_metadata(key, std::string_view(value, static_cast<size_t>(stop - value)));
    go_to(stop);
    return Step::Go;
  }
  const bool cut = strict.at_end();
  if (cut && !last) {
    if (size_ - at_ < kWholeValue) return Step::NeedMore;
    keep_metadata(key, std::nullopt);
    skipper_.start();
    state_ = State::SkipValue;
    go_to(value);
    return Step::Go;
  }
  if (cut && layout_ != Layout::None) {
    router_.report().add(Reason::Truncated, offset());
    go_to(end());
    return Step::NeedMore;
  }
  Lexer<true> lenient(end(), inner_depth(limits_));
  if (const char* const stop = lenient.value(value, Within::Object, token)) {
    if (!last && static_cast<size_t>(end() - stop) < kLookahead) return Step::NeedMore;
    router_.report().add(Reason::Recovered, offset());
    keep_metadata(key, std::string_view(value, static_cast<size_t>(stop - value)));
    go_to(stop);
    return Step::Go;
  }
  if (lenient.at_end() && !last && size_ - at_ < kWholeValue) return Step::NeedMore;
  router_.report().add(Reason::BadMetadata, offset());
  go_to(value);
  state_ = State::FindKey;
  return Step::Go;
}

void EventStream::keep_metadata(std::string_view key, std::optional<std::string_view> value) {
  std::string name;
  unescape(key, name);
  if (value && (value->size() > kWholeValue || metadata_bytes_ + value->size() > kMetadataBytes)) {
    value.reset();
  }
  if (metadata_.size() >= kMetadataKeys && metadata_.count(name) == 0) return;
  std::optional<std::string>& kept = metadata_[name];
  kept.reset();
  if (!value) return;
  metadata_bytes_ += value->size();
  kept.emplace();
  normalise_json(*value, *kept);
}

EventStream::Step EventStream::skip_value() {
  at_ += skipper_.skip(here(), size_ - at_);
  if (!skipper_.done()) return Step::NeedMore;
  state_ = State::Object;
  return Step::Go;
}

EventStream::Step EventStream::events(bool last) {
  const char* p = skip_blanks(here());
  while (*p == ',') p = skip_blanks(p + 1);
  go_to(p);
  if (p >= end()) return Step::NeedMore;
  if (*p == '{') return event(last);
  if (*p == ']' || *p == '}') {
    if (*p == '}') {
      router_.report().add(Reason::Unclosed, offset());
      state_ = State::Top;
    } else {
      state_ = in_object_ ? State::Object : State::Top;
    }
    ++at_;
    return Step::Go;
  }
  if (*p == '[') {  // events in a list of their own
    router_.add_empty(offset());
    ++at_;
    return Step::Go;
  }
  std::string_view key;
  if (in_object_ && match_key(p, key) != nullptr) {
    router_.report().add(Reason::Unclosed, offset());
    state_ = State::Object;
    return Step::Go;
  }
  Lexer<false> lexer(end(), inner_depth(limits_));
  Token token;
  if (const char* const stop = lexer.value(p, Within::Array, token)) {
    const char* const next = skip_blanks(stop);
    if (*next == ',' || *next == ']') {
      router_.add_empty(offset());
      go_to(stop);
      return Step::Go;
    }
    if (next >= end() && !last) return Step::NeedMore;
  } else if (lexer.at_end() && !last && size_ - at_ < limits_.max_event_bytes) {
    return Step::NeedMore;
  }
  return lost(last && lexer.at_end() ? Reason::Truncated : Reason::Lost, nullptr);
}

// Goes on at `next`, or searches.
EventStream::Step EventStream::lost(Reason reason, const char* next) {
  router_.report().add(reason, offset());
  if (next != nullptr) {
    go_to(next);
    resynced_ = true;
    state_ = State::Events;
  } else {
    ++at_;
    state_ = State::FindEvent;
  }
  return Step::Go;
}

EventStream::Step EventStream::event(bool last) {
  const bool searched = resynced_;
  resynced_ = false;
  Lexer<false> lexer(end(), inner_depth(limits_));
  const char* const stop = read_event(here(), lexer, event_);
  if (stop != nullptr) {
    if (searched && event_.ph.form == Form::None) {  // an object inside a lost event
      ++at_;
      state_ = State::FindEvent;
      return Step::Go;
    }
    router_.add(event_, offset(), false);
    go_to(stop);
    return Step::Go;
  }
  const bool cut = lexer.at_end();
  if (lexer.too_big) return lost(Reason::TooBig, nullptr);
  if (cut && !last) {
    if (size_ - at_ > limits_.max_event_bytes) return lost(Reason::TooBig, nullptr);
    resynced_ = searched;
    return Step::NeedMore;
  }
  const Step result = event_leniently(last, cut);
  if (result == Step::NeedMore) resynced_ = searched;
  return result;
}

// A damaged event may not reach into the next one: it is read from a copy that ends there.
EventStream::Step EventStream::event_leniently(bool last, bool cut) {
  const char* const next = find_event_or_end(here(), here() + 1, end(), last);
  const size_t room = static_cast<size_t>((next == nullptr ? end() : next) - here());
  scratch_.assign(here(), room);
  scratch_.append(kPadding, '\0');
  const char* const begin = scratch_.data();
  Lexer<true> lexer(begin + room, inner_depth(limits_));
  const char* const stop = read_event(begin, lexer, event_);
  const bool may_grow = next == nullptr && !last && room <= limits_.max_event_bytes;
  if (stop != nullptr) {
    const auto size = static_cast<size_t>(stop - begin);
    if (may_grow && room - size < kLookahead) return Step::NeedMore;
    if (event_.ph.form != Form::None) {
      router_.add(event_, offset(), true);
      at_ += size;
      return Step::Go;
    }
    return lost(Reason::Lost, next);
  }
  if (lexer.too_big) return lost(Reason::TooBig, next);
  if (may_grow && lexer.at_end()) return Step::NeedMore;
  if (next == nullptr && room > limits_.max_event_bytes) return lost(Reason::TooBig, nullptr);
  return lost(cut && next == nullptr ? Reason::Truncated : Reason::Lost, next);
}

EventStream::Step EventStream::find_event_again(bool last) {
  const char* const found = find_event_or_end(buffer_.get(), here(), end(), last);
  if (found != nullptr) {
    go_to(found);
    resynced_ = true;
    state_ = State::Events;
    return Step::Go;
  }
  // Keep what the beginning of an event may be part of.
  if (last) {
    go_to(end());
  } else if (size_ - at_ > kLookahead) {
    at_ = size_ - kLookahead;
  }
  return Step::NeedMore;
}

EventStream::Step EventStream::find_key_again(bool last) {
  const char* const found = find_envelope_key(here(), end());
  if (found != nullptr) {
    go_to(found);
    state_ = State::Object;
    return Step::Go;
  }
  if (last) {
    go_to(end());
  } else if (size_ - at_ > kLookahead) {
    at_ = size_ - kLookahead;
  }
  return Step::NeedMore;
}

}  // namespace dctx::trace_event
