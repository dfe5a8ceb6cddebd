#include "scan/trace_event/skipper.hpp"

namespace dctx::trace_event {

size_t Skipper::skip(const char* data, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const char c = data[i];
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
        done_ = depth_ == 0;
      }
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '[' || c == '{') {
      ++depth_;
    } else if (c == ']' || c == '}') {
      if (depth_ == 0) {  // of what holds the value
        done_ = true;
        return i;
      }
      done_ = --depth_ == 0;
    } else if (c == ',' && depth_ == 0) {
      done_ = true;
      return i;
    }
    if (done_) return i + 1;
  }
  return size;
}

}  // namespace dctx::trace_event
