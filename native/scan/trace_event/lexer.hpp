#pragma once
// JSON values in a buffer that may end in the middle of one. No recursion.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "scan/trace_event/chars.hpp"

namespace dctx::trace_event {

enum class Form : uint8_t { None, String, Number, Literal, NonFinite, Word, Container };

// A value as it stands in the buffer; without the quotes when it is a string.
struct Token {
  const char* data = nullptr;
  size_t size = 0;
  Form form = Form::None;

  std::string_view text() const { return {data, size}; }
  bool is_null() const { return form == Form::Literal && *data == 'n'; }
};

enum class Within : uint8_t { Key, Object, Array };

// Reads strictly, or with a look at what follows each quote (`lenient`): then a quote that nothing
// which may follow a string follows is part of it.
//
// Functions return where the value ends, or nullptr: `failed_at` then tells where, and at the end
// of the buffer more bytes may mend it.
template <bool kLenient>
class Lexer {
 public:
  // `*end` is NUL, and kPadding bytes from it on are readable.
  Lexer(const char* end, size_t max_depth) : end_(end), max_depth_(max_depth) {}

  const char* value(const char* p, Within within, Token& out);
  const char* key(const char* p, Token& out);  // p: at its quote

  // At the string's quote; returns where its closing one is.
  const char* string(const char* p, Within within) {
    const char* const q = find_string_stop(p + 1);
    if (*q == '"' && (!kLenient || closes(q, within))) return q;
    return odd_string(q, within);
  }

  const char* fail(const char* at) {
    failed_at = at;
    return nullptr;
  }
  bool at_end() const { return failed_at >= end_; }

  const char* failed_at = nullptr;
  bool too_big = false;   // nested too deep, or too many keys
  bool repaired = false;  // a string held what no JSON string holds

 private:
  const char* odd_string(const char* q, Within within);
  bool closes(const char* quote, Within within) const;
  const char* container(const char* p);
  bool may_follow_string(const char* p, bool in_object) const;

  const char* end_;
  size_t max_depth_;
};

extern template class Lexer<false>;
extern template class Lexer<true>;

// Where a key, its quotes and the colon behind it end; nullptr when none begins at p.
const char* match_key(const char* p, std::string_view& key);

}  // namespace dctx::trace_event
