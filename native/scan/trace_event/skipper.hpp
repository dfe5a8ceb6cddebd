#pragma once
#include <cstddef>

namespace dctx::trace_event {

// Passes over one JSON value of any size, piece by piece, without keeping it.
class Skipper {
 public:
  // The next piece of the value; returns how many bytes of it belong to the value.
  size_t skip(const char* data, size_t size);
  bool done() const { return done_; }
  void start() { *this = Skipper(); }

 private:
  size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool done_ = false;
};

}  // namespace dctx::trace_event
