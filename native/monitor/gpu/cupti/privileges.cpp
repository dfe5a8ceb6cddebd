#include "monitor/gpu/cupti/privileges.hpp"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace dctx::monitor::gpu::cupti {
namespace {

constexpr uint64_t kSysAdmin = uint64_t{1} << 21;
constexpr uint64_t kPerfmon = uint64_t{1} << 38;

std::string content(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What follows `name:` in a line of its own; empty when there is none.
std::string value(const std::string& text, const std::string& name) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end == std::string::npos ? end : end - at);
    if (line.compare(0, name.size() + 1, name + ":") == 0) {
      const size_t begin = line.find_first_not_of(" \t", name.size() + 1);
      return begin == std::string::npos ? "" : line.substr(begin);
    }
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return "";
}

}  // namespace

bool may_sample(const std::string& driver_params, const std::string& process_status) {
  if (value(driver_params, "RmProfilingAdminOnly") != "1") return true;
  const std::string held = value(process_status, "CapEff");
  const uint64_t rights = std::strtoull(held.c_str(), nullptr, 16);
  return (rights & (kSysAdmin | kPerfmon)) != 0;
}

bool may_sample() {
  return may_sample(content("/proc/driver/nvidia/params"), content("/proc/self/status"));
}

}  // namespace dctx::monitor::gpu::cupti
