#include "monitor/recorder/chunks.hpp"

#include <unistd.h>

#include "monitor/recorder/crc32c.hpp"
#include "monitor/recorder/table.hpp"

namespace dctx::monitor {
namespace {

constexpr std::string_view kMagic("DCTXREC\0", 8);
constexpr uint32_t kByteOrder = 0x01020304;
constexpr size_t kHeaderBytes = 64;

}  // namespace

std::string file_header(int64_t start_utc_ns, int64_t start_monotonic_ns) {
  std::string out(kMagic);
  put(out, kFormatMajor, 2);
  put(out, kFormatMinor, 2);
  put(out, kByteOrder, 4);
  put(out, static_cast<uint32_t>(getpid()), 4);
  put(out, 0, 4);
  put(out, static_cast<uint64_t>(start_utc_ns), 8);
  put(out, static_cast<uint64_t>(start_monotonic_ns), 8);
  out.resize(kHeaderBytes - 4, '\0');
  put(out, crc32c(out.data(), out.size()), 4);
  return out;
}

void append_chunk(std::string& out, uint32_t type, uint32_t sequence, std::string_view content) {
  std::string head;
  put(head, type, 4);
  put(head, 0, 4);  // flags
  put(head, content.size(), 8);
  put(head, sequence, 4);
  const uint32_t check = crc32c(content.data(), content.size(), crc32c(head.data(), head.size()));
  put(head, check, 4);
  out += head;
  out += content;
  out.resize((out.size() + 7) / 8 * 8, '\0');  // the header's size is a multiple of 8 too
}

}  // namespace dctx::monitor
