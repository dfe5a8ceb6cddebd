#pragma once
// Byte searches over JSON text. All of them may read up to kPadding bytes past the end of the text,
// where a NUL stops them: whoever owns the buffer keeps that many zero bytes there.
#include <cstddef>
#include <cstdint>
#include <cstring>
#if !defined(DCTX_PLAIN_CHARS) && !defined(__SSE2__) && !defined(__ARM_NEON)
#define DCTX_PLAIN_CHARS 1
#endif
#if defined(DCTX_PLAIN_CHARS)
#elif defined(__SSE2__)
#include <emmintrin.h>
#else
#include <arm_neon.h>
#endif

namespace dctx::trace_event {

constexpr size_t kPadding = 64;

namespace detail {

#if defined(DCTX_PLAIN_CHARS)
#elif defined(__SSE2__)
constexpr unsigned kMaskStep = 1;  // bits of the mask per byte
using Mask = uint32_t;

inline __m128i load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
inline __m128i is(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
inline __m128i at_most(__m128i bytes, uint8_t limit) {
  const __m128i top = _mm_set1_epi8(static_cast<char>(limit));
  return _mm_cmpeq_epi8(_mm_max_epu8(bytes, top), top);
}
inline __m128i same(__m128i a, __m128i b) { return _mm_cmpeq_epi8(a, b); }
inline __m128i either(__m128i a, __m128i b) { return _mm_or_si128(a, b); }
inline Mask mask(__m128i bytes) { return static_cast<Mask>(_mm_movemask_epi8(bytes)); }
constexpr Mask kAll = 0xFFFF;
#else
constexpr unsigned kMaskStep = 4;
using Mask = uint64_t;

inline uint8x16_t load(const char* p) { return vld1q_u8(reinterpret_cast<const uint8_t*>(p)); }
inline uint8x16_t is(uint8x16_t bytes, char c) {
  return vceqq_u8(bytes, vdupq_n_u8(static_cast<uint8_t>(c)));
}
inline uint8x16_t at_most(uint8x16_t bytes, uint8_t limit) {
  return vcleq_u8(bytes, vdupq_n_u8(limit));
}
inline uint8x16_t same(uint8x16_t a, uint8x16_t b) { return vceqq_u8(a, b); }
inline uint8x16_t either(uint8x16_t a, uint8x16_t b) { return vorrq_u8(a, b); }
inline Mask mask(uint8x16_t bytes) {
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(bytes), 4)), 0);
}
constexpr Mask kAll = ~Mask{0};
#endif

inline unsigned lowest_bit(uint64_t mask) { return static_cast<unsigned>(__builtin_ctzll(mask)); }

}  // namespace detail

// Whether two texts are the same. Both are readable up to the next multiple of sixteen bytes.
inline bool same_bytes(const char* a, const char* b, size_t size) {
#ifndef DCTX_PLAIN_CHARS
  using namespace detail;
  for (; size > 16; a += 16, b += 16, size -= 16) {
    if (mask(same(load(a), load(b))) != kAll) return false;
  }
  if (size == 0) return true;
  const Mask counted = kAll >> (16 - size) * kMaskStep;
  return (mask(same(load(a), load(b))) & counted) == counted;
#else
  return size == 0 || std::memcmp(a, b, size) == 0;
#endif
}

// First byte that is no blank (blanks: everything up to ' ' but NUL).
inline const char* skip_blanks(const char* p) {
  if (static_cast<uint8_t>(*p) > ' ' || *p == '\0') return p;
  ++p;
  if (static_cast<uint8_t>(*p) > ' ' || *p == '\0') return p;
#ifndef DCTX_PLAIN_CHARS
  using namespace detail;
  for (;; p += 16) {
    const auto bytes = load(p);
    const Mask blank = mask(at_most(bytes, ' '));
    const Mask nul = mask(is(bytes, '\0'));
    const Mask stop = (~blank & kAll) | nul;
    if (stop != 0) return p + lowest_bit(stop) / kMaskStep;
  }
#else
  while (static_cast<uint8_t>(*p) <= ' ' && *p != '\0') ++p;
  return p;
#endif
}

// First quote, backslash or control byte (NUL is one).
inline const char* find_string_stop(const char* p) {
#ifndef DCTX_PLAIN_CHARS
  using namespace detail;
  for (;; p += 16) {
    const auto bytes = load(p);
    const Mask stop = mask(either(either(is(bytes, '"'), is(bytes, '\\')), at_most(bytes, 0x1F)));
    if (stop != 0) return p + lowest_bit(stop) / kMaskStep;
  }
#else
  while (*p != '"' && *p != '\\' && static_cast<uint8_t>(*p) > 0x1F) ++p;
  return p;
#endif
}

// First quote, bracket, brace or NUL.
inline const char* find_structure(const char* p) {
#ifndef DCTX_PLAIN_CHARS
  using namespace detail;
  for (;; p += 16) {
    const auto bytes = load(p);
    const auto quote = either(is(bytes, '"'), is(bytes, '\0'));
    const auto array = either(is(bytes, '['), is(bytes, ']'));
    const auto object = either(is(bytes, '{'), is(bytes, '}'));
    const Mask stop = mask(either(quote, either(array, object)));
    if (stop != 0) return p + lowest_bit(stop) / kMaskStep;
  }
#else
  while (*p != '"' && *p != '[' && *p != ']' && *p != '{' && *p != '}' && *p != '\0') ++p;
  return p;
#endif
}

}  // namespace dctx::trace_event
