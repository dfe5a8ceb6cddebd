#pragma once
#include <string>

namespace dctx::monitor {

// Wakes a thread that waits in poll(): bytes through a pipe.
class Wake {
 public:
  Wake();
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;
  ~Wake();

  // From any thread and from signal handlers; never blocks.
  void ring(char what) const { ring(write_, what); }
  static void ring(int descriptor, char what);
  // What was rung since the last call.
  std::string take() const;
  int read_descriptor() const { return read_; }
  int write_descriptor() const { return write_; }

 private:
  int read_ = -1;
  int write_ = -1;
};

}  // namespace dctx::monitor
