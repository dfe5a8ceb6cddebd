#include "monitor/recorder/status_line.hpp"

#include <unistd.h>

#include "monitor/engine/registry.hpp"

namespace dctx::monitor {
namespace {

std::string quoted(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (byte < 0x20) {
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

uint64_t events() {
  uint64_t count = 0;
  for (const ThreadRecord* record : Registry::instance().threads()) {
    const ThreadStore& store = record->store;
    for (uint32_t node = 0; node < store.node_count(); ++node) count += store.metrics(node).count;
  }
  return count;
}

}  // namespace

std::string status_line(const RecorderState& state) {
  Registry& registry = Registry::instance();
  std::string out = "{\"pid\":" + std::to_string(getpid());
  out += state.recording ? ",\"recording\":true" : ",\"recording\":false";
  out += ",\"file\":" + quoted(state.path);
  for (const auto& [name, value] :
       {std::pair<const char*, uint64_t>{"file_bytes", state.file_bytes},
        {"snapshots", state.snapshots},
        {"events", events()},
        {"contexts", registry.budget().used.load()},
        {"steps", registry.steps().count()}}) {
    out += std::string(",\"") + name + "\":" + std::to_string(value);
  }
  return out + ",\"error\":" + quoted(state.error) + "}";
}

std::string error_line(std::string_view text) { return "{\"error\":" + quoted(text) + "}"; }

}  // namespace dctx::monitor
