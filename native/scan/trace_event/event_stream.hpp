#pragma once
// A trace-event JSON file, pushed in pieces of any size: the walk through its outer structure.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "scan/trace_event/event.hpp"
#include "scan/trace_event/router.hpp"
#include "scan/trace_event/skipper.hpp"

namespace dctx::trace_event {

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

  void append(const char* data, size_t size);
  void drain(bool last);
  Step step(bool last);
  Step top(bool last);
  Step object(bool last);
  Step events(bool last);
  Step event(bool last);
  Step event_leniently(bool last, bool cut);
  Step member(std::string_view key, const char* value, bool last);
  Step skip_value();
  Step find_event_again(bool last);
  Step find_key_again(bool last);

  bool looks_like_lines(bool last, bool& undecided);
  void keep_metadata(std::string_view key, std::optional<std::string_view> value);
  Step lost(Reason reason, const char* next);
  void go_to(const char* p) { at_ = static_cast<size_t>(p - buffer_.get()); }
  const char* here() const { return buffer_.get() + at_; }
  const char* end() const { return buffer_.get() + size_; }
  uint64_t offset() const { return base_ + at_; }

  Limits limits_;
  Router router_;
  Event event_;
  State state_ = State::Top;
  Layout layout_ = Layout::None;
  bool in_object_ = false;          // the events are in an object's array
  bool resynced_ = false;           // what begins here was found by searching
  bool any_text_ = false;           // behind a byte order mark
  std::unique_ptr<char[]> buffer_;  // [at_, size_): not yet read; kPadding zero bytes behind
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
