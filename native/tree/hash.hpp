#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dctx {

inline uint64_t mix_bits(uint64_t x) {
  constexpr uint64_t kFactor = 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  x *= kFactor;
  x ^= x >> 32;
  x *= kFactor;
  x ^= x >> 32;
  return x;
}

inline uint64_t hash_text(std::string_view text) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  uint64_t hash = text.size() * kFactor;
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= 8; left -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
  }
  if (left > 0) {
    uint64_t word = 0;
    std::memcpy(&word, at, left);
    hash = (hash ^ word) * kFactor;
  }
  return mix_bits(hash);
}

}  // namespace dctx
