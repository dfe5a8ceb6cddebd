#include "common/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace dctx {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";

bool is_ascii(const char* p, size_t n) {
  uint64_t seen = 0;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    seen |= word;
  }
  for (; n > 0; ++p, --n) seen |= static_cast<uint8_t>(*p);
  return (seen & 0x8080808080808080U) == 0;
}

struct Step {
  size_t length;  // bytes taken: a whole character, or the maximal ill-formed part
  bool valid;
};

// One character starting at a byte >= 0x80 (Unicode 15, table 3-7).
Step next_character(const uint8_t* p, size_t n) {
  const uint8_t lead = p[0];
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (size_t i = 1; i < length; ++i) {
    if (i == n || p[i] < low || p[i] > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

}  // namespace

void append_utf8(std::string_view text, std::vector<char>& out) {
  if (is_ascii(text.data(), text.size())) {
    out.insert(out.end(), text.begin(), text.end());
    return;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  size_t copied = 0;
  size_t i = 0;
  while (i < text.size()) {
    if (bytes[i] < 0x80) {
      ++i;
      continue;
    }
    const Step step = next_character(bytes + i, text.size() - i);
    if (!step.valid) {
      out.insert(out.end(), text.data() + copied, text.data() + i);
      out.insert(out.end(), kReplacement, kReplacement + 3);
      copied = i + step.length;
    }
    i += step.length;
  }
  out.insert(out.end(), text.data() + copied, text.data() + text.size());
}

void append_hex(std::string_view bytes, std::vector<char>& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out.push_back(kDigits[byte >> 4U]);
    out.push_back(kDigits[byte & 0xFU]);
  }
}

}  // namespace dctx
