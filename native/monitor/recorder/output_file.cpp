#include "monitor/recorder/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace dctx::monitor {
namespace {

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    content.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

bool OutputFile::fail(const char* what) {
  error_ = std::string(what) + ": " + std::strerror(errno);
  return false;
}

bool OutputFile::replace(const std::string& path, std::string_view content, bool durable) {
  const std::string beside = path + "." + std::to_string(getpid()) + ".part";
  const int fresh =
      ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0600);
  if (fresh < 0) return fail("the file cannot be made");
  const bool written = write_all(fresh, content) && (!durable || ::fsync(fresh) == 0);
  if (!written || std::rename(beside.c_str(), path.c_str()) != 0) {
    fail("the file cannot be written");
    ::close(fresh);
    ::unlink(beside.c_str());
    return false;
  }
  close();
  descriptor_ = fresh;
  size_ = content.size();
  torn_ = false;
  return true;
}

bool OutputFile::append(std::string_view content, bool durable) {
  if (torn_) return false;
  if (write_all(descriptor_, content) && (!durable || ::fdatasync(descriptor_) == 0)) {
    size_ += content.size();
    return true;
  }
  fail("the file cannot be written");
  torn_ = ::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0;
  return false;
}

void OutputFile::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace dctx::monitor
