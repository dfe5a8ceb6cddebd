// The object around the array of events: its other keys are the file's metadata.
#include <algorithm>

#include "scan/trace_event/event_stream.hpp"
#include "scan/trace_event/json_repair.hpp"
#include "scan/trace_event/lexer.hpp"

namespace dctx::trace_event {
namespace {

constexpr size_t kMetadataBytes = size_t{16} << 20;
constexpr size_t kMetadataKeys = 10'000;

}  // namespace

EventStream::Step EventStream::object() {
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
  const char* const reached = value == nullptr ? lexer.failed_at : value;
  const bool too_long = beyond(reached, kWholeValue);
  if (reached >= end() && !too_long) {
    if (!last_) return Step::NeedMore;
    router_.report().add(Reason::Truncated, offset());
    go_to(end());
    return Step::NeedMore;
  }
  if (value == nullptr || too_long) return find_key_from(p);
  if (key == "traceEvents" && *value == '[') {
    layout_ = Layout::Object;
    in_object_ = true;
    state_ = State::Events;
    go_to(value + 1);
    return Step::Go;
  }
  return member(key, value);
}

EventStream::Step EventStream::find_key_from(const char* p) {
  router_.report().add(Reason::BadMetadata, offset());
  // A brace may begin an event here; a key that was of no use is not to be found again.
  before_ = *p == '{' ? ',' : *p;
  go_to(*p == '{' ? p : p + 1);
  state_ = State::FindKey;
  return Step::Go;
}

EventStream::Step EventStream::member(std::string_view key, const char* value) {
  Lexer<false> lexer(end(), inner_depth(limits_));
  Token token;
  const char* const stop = lexer.value(value, Within::Object, token);
  if (beyond(stop == nullptr ? lexer.failed_at : stop, kWholeValue)) {
    keep_metadata(key, std::nullopt);
    skipper_.start();
    state_ = State::SkipValue;
    go_to(value);
    return Step::Go;
  }
  if (stop != nullptr) {
    keep_metadata(key, std::string_view(value, static_cast<size_t>(stop - value)));
    go_to(stop);
    return Step::Go;
  }
  if (!lexer.at_end()) return member_leniently(key, value);
  if (!last_) return Step::NeedMore;
  if (layout_ == Layout::None) return member_leniently(key, value);
  router_.report().add(Reason::Truncated, offset());
  go_to(end());
  return Step::NeedMore;
}

// A damaged value may not reach into the next key of the envelope, or into events.
EventStream::Step EventStream::member_leniently(std::string_view key, const char* value) {
  if (!sight().holds(here(), kWholeValue)) return Step::NeedMore;
  const char* limit = here() + std::min(kWholeValue, size_ - at_);
  const unsigned sought = kEnvelopeKey | (layout_ == Layout::None ? 0U : kEvent);
  limit = find_again(value + 1, *value, {limit, true}, sought).at;
  const auto room = static_cast<size_t>(limit - value);
  scratch_.assign(value, room);
  scratch_.append(kPadding, '\0');
  Lexer<true> lexer(scratch_.data() + room, inner_depth(limits_));
  Token token;
  const char* const stop = lexer.value(scratch_.data(), Within::Object, token);
  if (stop == nullptr) return find_key_from(value);
  const auto size = static_cast<size_t>(stop - scratch_.data());
  router_.report().add(Reason::Recovered, offset());
  keep_metadata(key, std::string_view(value, size));
  go_to(value + size);
  return Step::Go;
}

void EventStream::keep_metadata(std::string_view key, std::optional<std::string_view> value) {
  std::string name;
  unescape(key, name);
  if (value && metadata_bytes_ + value->size() > kMetadataBytes) value.reset();
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

// Behind damage in the envelope, or where an array of events seemed to end. Events may come too.
EventStream::Step EventStream::find_key_again() {
  const Found next = find_again(here(), before_, sight(), kEnvelopeKey | kEvent);
  before_ = byte_before(here(), next.at, before_);
  go_to(next.at);
  if (!next.found) return Step::NeedMore;
  if (*next.at == '"') {
    state_ = State::Object;
    return Step::Go;
  }
  resynced_ = true;
  search_ = State::FindKey;
  in_object_ = true;
  state_ = State::Events;
  return Step::Go;
}

}  // namespace dctx::trace_event
