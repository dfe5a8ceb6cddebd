#include "monitor/recorder/control_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace dctx::monitor {
namespace {

constexpr timeval kPatience{0, 500'000};

}  // namespace

bool ControlSocket::open(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    error_ = "the path is longer than the system allows for a socket";
    return false;
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int made = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (made < 0) {
    error_ = std::strerror(errno);
    return false;
  }
  ::fcntl(made, F_SETFD, FD_CLOEXEC);
  ::fcntl(made, F_SETFL, O_NONBLOCK);
  ::unlink(path.c_str());
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  // Nobody can connect before listen(): by then only the user may.
  if (::bind(made, name, sizeof address) != 0 || ::chmod(path.c_str(), 0600) != 0 ||
      ::listen(made, 8) != 0) {
    error_ = std::strerror(errno);
    ::close(made);
    return false;
  }
  descriptor_ = made;
  path_ = path;
  return true;
}

void ControlSocket::serve(const Answer& answer) const {
  const int client = ::accept(descriptor_, nullptr, nullptr);
  if (client < 0) return;
  ::fcntl(client, F_SETFD, FD_CLOEXEC);
  ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  std::array<char, 64> line{};
  size_t size = 0;
  while (size < line.size()) {
    const ssize_t got = ::recv(client, line.data() + size, line.size() - size, 0);
    if (got <= 0) break;
    size += static_cast<size_t>(got);
    if (std::memchr(line.data(), '\n', size) != nullptr) break;
  }
  const std::string_view said(line.data(), size);
  const size_t end = said.find('\n');
  if (end != std::string_view::npos) {
    const std::string reply = answer(said.substr(0, end)) + "\n";
    for (size_t sent = 0; sent < reply.size();) {
      const ssize_t now = ::send(client, reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) break;
      sent += static_cast<size_t>(now);
    }
  }
  ::close(client);
}

void ControlSocket::close() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());
  abandon();
}

void ControlSocket::abandon() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace dctx::monitor
