#include "monitor/recorder/wake.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace dctx::monitor {

Wake::Wake() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe(ends.data()) != 0) return;
  for (const int end : ends) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
  read_ = ends[0];
  write_ = ends[1];
}

Wake::~Wake() {
  if (read_ >= 0) ::close(read_);
  if (write_ >= 0) ::close(write_);
}

// A full pipe has woken the thread already.
void Wake::ring(int descriptor, char what) {
  const int before = errno;
  static_cast<void>(!::write(descriptor, &what, 1));
  errno = before;
}

std::string Wake::take() const {
  std::string all;
  std::array<char, 256> bytes{};
  for (;;) {
    const ssize_t size = ::read(read_, bytes.data(), bytes.size());
    if (size <= 0) return all;
    all.append(bytes.data(), static_cast<size_t>(size));
  }
}

}  // namespace dctx::monitor
