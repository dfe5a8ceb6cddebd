#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dctx {

// UTF-8 texts in one buffer: text i is bytes[offsets[i] .. offsets[i + 1]).
// `valid` is empty when no text is NULL, else one byte per text.
struct TextData {
  std::vector<int64_t> offsets{0};
  std::vector<char> bytes;
  std::vector<uint8_t> valid;

  size_t size() const { return offsets.size() - 1; }
  bool is_null(size_t i) const { return !valid.empty() && valid[i] == 0; }
  std::string_view operator[](size_t i) const {
    const auto begin = static_cast<size_t>(offsets[i]);
    return {bytes.data() + begin, static_cast<size_t>(offsets[i + 1]) - begin};
  }
  void push_back(std::string_view text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    offsets.push_back(static_cast<int64_t>(bytes.size()));
    if (!valid.empty()) valid.push_back(1);
  }
  void push_null() {
    if (valid.empty()) valid.assign(size(), 1);
    offsets.push_back(static_cast<int64_t>(bytes.size()));
    valid.push_back(0);
  }
};

}  // namespace dctx
