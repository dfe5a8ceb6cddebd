#pragma once
// JSON values in a buffer that may end in the middle of one. No recursion.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "scan/trace_event/chars.hpp"
#include "scan/trace_event/digits.hpp"

namespace dctx::trace_event {

enum class Form : uint8_t { None, String, Number, Literal, NonFinite, Word, Container };

// What a number's text has been found to be on the way.
enum class Plain : uint8_t {
  No,
  Integer,     // digits only, few enough
  Thousandth,  // with up to three digits behind a point; `number` is a thousand times it
};

struct SeenText;

// A value as it stands in the buffer; without the quotes when it is a string.
struct Token {
  const char* data = nullptr;
  size_t size = 0;
  int64_t number = 0;
  Form form = Form::None;
  Plain plain = Plain::No;
  int32_t id = -1;           // of the text, when it is one seen before
  SeenText* seen = nullptr;  // to be told what the text is

  std::string_view text() const { return {data, size}; }
  bool is_null() const { return form == Form::Literal && *data == 'n'; }
  bool is_missing() const { return form == Form::None || is_null(); }
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

  const char* value(const char* p, Within within, Token& out) {
    if (*p == '"') {
      const char* const quote = string(p, within);
      if (quote == nullptr) return nullptr;
      out.data = p + 1;
      out.size = static_cast<size_t>(quote - p - 1);
      out.form = Form::String;
      out.plain = Plain::No;
      out.id = -1;
      out.seen = nullptr;
      return quote + 1;
    }
    if (is_digit(*p)) {
      if (const char* const stop = plain_number(p, out)) return stop;
    }
    return other_value(p, out);
  }

  // p: at its quote. Returns what is behind the colon.
  const char* key(const char* p, std::string_view& out) {
    const char* const quote = string(p, Within::Key);
    if (quote == nullptr) return nullptr;
    out = {p + 1, static_cast<size_t>(quote - p - 1)};
    p = skip_blanks(quote + 1);
    return *p == ':' ? p + 1 : fail(p);
  }

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
  const char* end() const { return end_; }
  bool at_end() const { return failed_at >= end_; }

  const char* failed_at = nullptr;
  bool too_big = false;   // nested too deep, or too many keys
  bool repaired = false;  // a string held what no JSON string holds

 private:
  // Most numbers are plain ones; nullptr for others.
  const char* plain_number(const char* p, Token& out) const {
    constexpr std::ptrdiff_t kDigits = 15;
    const char* const first = p;
    uint64_t number = 0;  // may wrap: then there are too many digits
    do {
      number = number * 10 + static_cast<uint64_t>(*p++ - '0');
    } while (is_digit(*p));
    if (p - first > kDigits) return nullptr;
    Plain plain = Plain::Integer;
    if (*p == '.' && is_digit(p[1])) {
      const char* const point = p++;
      do {
        number = number * 10 + static_cast<uint64_t>(*p++ - '0');
      } while (is_digit(*p) && p - point < 4);
      static constexpr uint64_t kScale[] = {0, 0, 100, 10, 1};
      number *= kScale[p - point];
      plain = Plain::Thousandth;
    }
    if (*p != ',' && *p != '}' && *p != '\n' && *p != ' ') return nullptr;
    out.data = first;
    out.size = static_cast<size_t>(p - first);
    out.number = static_cast<int64_t>(number);
    out.form = Form::Number;
    out.plain = plain;
    out.id = -1;
    out.seen = nullptr;
    return p;
  }

  const char* other_value(const char* p, Token& out);
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
