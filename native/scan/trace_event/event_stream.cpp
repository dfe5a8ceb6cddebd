#include "scan/trace_event/event_stream.hpp"

#include <algorithm>
#include <cstring>

#include "scan/trace_event/lexer.hpp"

namespace dctx::trace_event {
namespace {

constexpr size_t kSlice = size_t{1} << 18;  // read at once: it stays in the cache
constexpr size_t kRetry = size_t{1} << 12;  // bytes to wait for before trying again, at least

}  // namespace

EventStream::EventStream(const Limits& limits)
    : limits_(limits), router_(limits), layouts_(limits.max_layout_links) {
  limits_.max_depth = std::max<size_t>(limits.max_depth, kOuterLevels + 1);
}

void EventStream::feed(const char* data, size_t size) {
  while (size > 0) {
    const size_t slice = std::min(size, kSlice);
    append(data, slice);
    data += slice;
    size -= slice;
    if (size_ - at_ >= attempt_at_) drain();
  }
}

void EventStream::finish() {
  append(nullptr, 0);
  last_ = true;
  drain();
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

void EventStream::drain() {
  while (step() == Step::Go) {
  }
  const size_t left = size_ - at_;
  attempt_at_ = left + std::max(left / 2, kRetry);
}

EventStream::Step EventStream::step() {
  switch (state_) {
    case State::Top:
      return top();
    case State::Object:
      return object();
    case State::Events:
      return events();
    case State::SkipValue:
      return skip_value();
    case State::FindEvent:
      return find_event_again();
    case State::FindKey:
      return find_key_again();
  }
  return Step::NeedMore;
}

// Whether an event stands at the top level: JSON lines, or events behind a brace too many.
EventStream::Guess EventStream::looks_like_lines() {
  std::string_view key;
  const char* const first = skip_blanks(here() + 1);
  const bool sound = match_key_near(first, sight(), key) != nullptr;
  if (!sound && !sight().holds(first, kWindow)) return Guess::NeedMore;
  if (layout_ == Layout::Lines && *first != '}') {  // one more line, whatever is damaged in it
    return sound && is_envelope_key(key) ? Guess::No : Guess::Yes;
  }
  if (sound ? !is_event_key(key) : *first == '}') return Guess::No;
  if (sound) {
    Lexer<false> lexer(end(), inner_depth(limits_));
    const char* const stop = read_event(here(), lexer, event_);
    if (beyond(stop == nullptr ? lexer.failed_at : stop, kWholeValue)) return Guess::No;
    if (stop != nullptr) {
      const bool eventful = event_.ph.form != Form::None && event_.has_ts != TimeState::Missing;
      return eventful ? Guess::Yes : Guess::No;
    }
    if (lexer.at_end() && !last_) return Guess::NeedMore;
  }
  // Damaged: it is an event when events are what follows, not keys of an envelope.
  if (layout_ != Layout::None) return Guess::Yes;
  const Found next = find_again(here() + 1, '{', sight(), kEvent | kEnvelopeKey);
  if (beyond(next.at, kWholeValue)) return Guess::No;
  if (!next.found && !last_) return Guess::NeedMore;
  return next.found && *next.at == '{' ? Guess::Yes : Guess::No;
}

EventStream::Step EventStream::top() {
  if (!any_text_) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    const std::string_view start(here(), std::min(kMark.size(), size_ - at_));
    if (start.size() < kMark.size() && !last_ && start == kMark.substr(0, start.size())) {
      return Step::NeedMore;
    }
    if (start == kMark) at_ += kMark.size();
    any_text_ = true;
  }
  const char* p = skip_blanks(here());
  while (p < end() && (*p == ',' || *p == '\0' || *p == ']' || *p == '}')) p = skip_blanks(p + 1);
  go_to(p);
  if (p >= end()) return Step::NeedMore;
  if (*p == '"' && layout_ == Layout::Object) {  // behind a brace too many
    if (!sight().holds(p, kWindow)) return Step::NeedMore;
    std::string_view key;
    if (match_key_near(p, sight(), key) != nullptr && is_envelope_key(key)) {
      state_ = State::Object;
      return Step::Go;
    }
  }
  if (*p != '[' && *p != '{') {
    if (!in_garbage_) router_.report().add(Reason::Lost, offset());
    in_garbage_ = true;
    do {
      ++p;
    } while (p < end() && *p != '[' && *p != '{' && *p != '"');
    go_to(p);
    return Step::Go;
  }
  if (*p == '{') {
    const Guess lines = looks_like_lines();
    if (lines == Guess::NeedMore) return Step::NeedMore;
    in_garbage_ = false;
    if (lines == Guess::No) {
      state_ = State::Object;
      ++at_;
      return Step::Go;
    }
    if (layout_ == Layout::None) layout_ = Layout::Lines;
    in_object_ = layout_ == Layout::Object;
  } else {
    in_garbage_ = false;
    if (layout_ == Layout::None) layout_ = Layout::List;
    in_object_ = false;
    ++at_;
  }
  state_ = State::Events;
  return Step::Go;
}

}  // namespace dctx::trace_event
