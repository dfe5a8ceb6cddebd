#pragma once
#include <cstddef>
#include <cstdint>

#include "monitor/gpu/custom/device_abi.hpp"

// The table of hooks as a route reads it: from bytes that stay where they are. No library is
// called: the audit library has none.
namespace dctx::device {

struct HookLine {
  const char* library;  // these end where their lengths say
  size_t library_bytes;
  const char* function;
  size_t function_bytes;
  uint64_t stack_words;
  int64_t absent;  // what a call returns where no library has the function
};

struct HookTable {
  HookLine lines[kMaxHooks];
  size_t count;
};

inline size_t length(const char* text) {
  size_t n = 0;
  while (text[n] != 0) ++n;
  return n;
}

// `text` (ends with NUL) is the `bytes` at `other`.
inline bool same(const char* text, const char* other, size_t bytes) {
  size_t i = 0;
  while (i < bytes && text[i] != 0 && text[i] == other[i]) ++i;
  return i == bytes && text[i] == 0;
}

// The file name of a path.
inline const char* base_name(const char* path) {
  const char* name = path;
  for (; *path != 0; ++path) {
    if (*path == '/') name = path + 1;
  }
  return name;
}

// One field of a line, up to a tab or the line's end; `at` is moved behind it.
inline const char* take_field(const char* text, size_t bytes, size_t* at, size_t* field_bytes) {
  const size_t begin = *at;
  while (*at < bytes && text[*at] != '\t' && text[*at] != '\n') ++*at;
  *field_bytes = *at - begin;
  if (*at < bytes && text[*at] == '\t') ++*at;
  return text + begin;
}

inline uint64_t take_number(const char* text, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes && text[i] >= '0' && text[i] <= '9'; ++i) {
    value = value * 10 + static_cast<uint64_t>(text[i] - '0');
  }
  return value;
}

// Lines beyond kMaxHooks are left out: there are none, the writer counts.
inline void parse_hooks(const char* text, size_t bytes, HookTable* out) {
  size_t at = 0;
  out->count = 0;
  while (at < bytes && out->count < kMaxHooks) {
    HookLine& line = out->lines[out->count];
    size_t words_bytes = 0, absent_bytes = 0;
    line.library = take_field(text, bytes, &at, &line.library_bytes);
    line.function = take_field(text, bytes, &at, &line.function_bytes);
    const char* words = take_field(text, bytes, &at, &words_bytes);
    const char* absent = take_field(text, bytes, &at, &absent_bytes);
    if (at < bytes && text[at] == '\n') ++at;
    if (line.library_bytes == 0 || line.function_bytes == 0) return;
    line.stack_words = take_number(words, words_bytes);
    if (line.stack_words > kMaxStackWords) return;
    line.absent = absent_bytes > 0 && absent[0] == '-' ? -1 : 0;
    ++out->count;
  }
}

}  // namespace dctx::device
