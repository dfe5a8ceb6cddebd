#pragma once
// A trace-event JSON file, pushed in pieces of any size: the walk through its outer structure.
//
// Where the pieces are cut makes no difference. A value that ends within the bytes at hand is the
// same with more of them; one that does not is read again when there are more, up to a limit that
// counts from its first byte; and every guess at damage looks at a fixed number of bytes, or at all
// up to a limit, and waits for them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "scan/trace_event/event.hpp"
#include "scan/trace_event/layouts.hpp"
#include "scan/trace_event/resync.hpp"
#include "scan/trace_event/router.hpp"
#include "scan/trace_event/skipper.hpp"

namespace dctx::trace_event {

constexpr size_t kWholeValue = size_t{1} << 20;  // longer values of the envelope are not kept
constexpr size_t kOuterLevels = 2;               // the event and its args

inline size_t inner_depth(const Limits& limits) {
  return std::min<size_t>(64, limits.max_depth) - kOuterLevels;
}

enum class Layout : uint8_t { None, Object, List, Lines };

class EventStream {
 public:
  explicit EventStream(const Limits& limits);

  void feed(const char* data, size_t size);
  void finish();

  uint64_t bytes_read() const { return base_ + size_; }
  Layout layout() const { return layout_; }
  Router& router() { return router_; }
  const Router& router() const { return router_; }
  // Raw JSON by key of the envelope, sound; nullopt where it was too long to keep.
  const std::map<std::string, std::optional<std::string>>& metadata() const { return metadata_; }

 private:
  enum class State : uint8_t { Top, Object, Events, SkipValue, FindEvent, FindKey };
  enum class Step : uint8_t { Go, NeedMore };
  enum class Guess : uint8_t { No, Yes, NeedMore };

  void append(const char* data, size_t size);
  void drain();
  Step step();

  Step top();
  Guess looks_like_lines();

  // event_stream_events.cpp
  Step events();
  Step scalar_element();
  Step event();
  bool known_event();
  Step event_leniently(bool cut);
  Step lost(Reason reason, Found next);
  Step find_event_again();
  void found_again(const char* p);

  // event_stream_envelope.cpp
  Step object();
  Step member(std::string_view key, const char* value);
  Step member_leniently(std::string_view key, const char* value);
  Step find_key_from(const char* p);
  Step skip_value();
  Step find_key_again();
  void keep_metadata(std::string_view key, std::optional<std::string_view> value);

  void go_to(const char* p) { at_ = static_cast<size_t>(p - buffer_.get()); }
  const char* here() const { return buffer_.get() + at_; }
  const char* end() const { return buffer_.get() + size_; }
  Sight sight() const { return {end(), last_}; }
  bool beyond(const char* p, size_t limit) const { return static_cast<size_t>(p - here()) > limit; }
  uint64_t offset() const { return base_ + at_; }

  Limits limits_;
  Router router_;
  Event event_;
  Layouts layouts_;
  Trail trail_;
  State state_ = State::Top;
  Layout layout_ = Layout::None;
  bool in_object_ = false;           // the events are in an object's array
  bool resynced_ = false;            // what begins here was found by searching
  State search_ = State::FindEvent;  // that goes on when it was no event
  bool any_text_ = false;            // behind a byte order mark
  bool in_garbage_ = false;          // between the values of the top level
  bool last_ = false;                // no more bytes come
  char before_ = '\0';               // searching: the last byte that counts of those left behind
  std::unique_ptr<char[]> buffer_;   // [at_, size_): not yet read; kPadding zero bytes behind
  size_t capacity_ = 0;
  size_t at_ = 0;
  size_t size_ = 0;
  size_t attempt_at_ = 0;  // not read again before so many bytes wait
  uint64_t base_ = 0;      // of buffer_[0] in the file
  Skipper skipper_;
  std::string scratch_;
  std::map<std::string, std::optional<std::string>> metadata_;
  size_t metadata_bytes_ = 0;
};

}  // namespace dctx::trace_event
