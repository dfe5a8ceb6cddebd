#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace dctx::monitor {

// A socket of this process that takes commands: a client sends one line and gets one line back.
// Only the user's own processes may connect (mode 0600).
class ControlSocket {
 public:
  using Answer = std::function<std::string(std::string_view command)>;

  ControlSocket() = default;
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  ~ControlSocket() { close(); }

  // Listens at `path`; what lies there is replaced. False, with the reason in error().
  bool open(const std::string& path);
  // Answers one client; a client that says nothing is dropped after half a second.
  void serve(const Answer& answer) const;
  // Removes the socket.
  void close();
  // In a forked child: the socket stays its parent's.
  void abandon();

  int descriptor() const { return descriptor_; }
  const std::string& error() const { return error_; }

 private:
  int descriptor_ = -1;
  std::string path_;
  std::string error_;
};

}  // namespace dctx::monitor
