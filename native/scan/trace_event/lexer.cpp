#include "scan/trace_event/lexer.hpp"

#include <array>
#include <cstring>

namespace dctx::trace_event {
namespace {

constexpr size_t kKeyLimit = 256;

// Bytes that end a bare token.
constexpr std::array<bool, 256> token_ends() {
  std::array<bool, 256> ends{};
  for (size_t c = 0; c <= ' '; ++c) ends[c] = true;
  for (const char c : {',', ':', '"', '[', ']', '{', '}'}) ends[static_cast<uint8_t>(c)] = true;
  return ends;
}
constexpr std::array<bool, 256> kTokenEnds = token_ends();

const char* token_end(const char* p) {
  while (!kTokenEnds[static_cast<uint8_t>(*p)]) ++p;
  return p;
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text == word) return true;
  }
  return false;
}

Form form_of(std::string_view token) {
  const char first = token.front();
  if (first >= '0' && first <= '9') return Form::Number;
  if (one_of(token, {"null", "true", "false"})) return Form::Literal;
  std::string_view unsigned_part = token;
  if (first == '-' || first == '+') unsigned_part.remove_prefix(1);
  if (one_of(unsigned_part, {"inf", "nan", "NaN", "Infinity", "N/A", "Inf", "INF", "NAN"})) {
    return Form::NonFinite;
  }
  if (!unsigned_part.empty() && (unsigned_part.front() == '.' ||
                                 (unsigned_part.front() >= '0' && unsigned_part.front() <= '9'))) {
    return Form::Number;
  }
  return Form::Word;
}

char before(const char* p) {
  do {
    --p;
  } while (static_cast<uint8_t>(*p) <= ' ');
  return *p;
}

}  // namespace

const char* match_key(const char* p, std::string_view& key) {
  if (*p != '"') return nullptr;
  const char* const quote = find_string_stop(p + 1);
  if (*quote != '"' || static_cast<size_t>(quote - p) > kKeyLimit) return nullptr;
  const char* const colon = skip_blanks(quote + 1);
  if (*colon != ':') return nullptr;
  key = {p + 1, static_cast<size_t>(quote - p - 1)};
  return colon + 1;
}

template <bool kLenient>
const char* Lexer<kLenient>::odd_string(const char* q, Within within) {
  for (;; q = find_string_stop(q)) {
    if (*q == '"') {
      if (!kLenient || closes(q, within)) return q;
      repaired = true;
      ++q;
    } else if (*q == '\\') {
      if (q + 1 >= end_) return fail(end_);
      if (std::strchr("\"\\/bfnrtu", q[1]) == nullptr || q[1] == '\0') {
        repaired = true;  // a lone backslash
        ++q;
      } else if (kLenient && q[1] == '"' && closes(q + 1, within)) {
        // Text that ends in a lone backslash, or an escaped quote before what looks like an end:
        // strict reading took it for the latter and failed.
        repaired = true;
        return q + 1;
      } else {
        q += 2;
      }
    } else {
      if (q >= end_) return fail(end_);
      repaired = true;  // a raw control byte
      ++q;
    }
  }
}

template <bool kLenient>
bool Lexer<kLenient>::may_follow_string(const char* p, bool in_object) const {
  if (p >= end_) return true;
  if (in_object) {
    std::string_view key;
    return *p == '}' || match_key(p, key) != nullptr;
  }
  if (std::strchr("\"[{]-", *p) != nullptr || (*p >= '0' && *p <= '9')) return true;
  const char* const end = token_end(p);
  return end > p && form_of({p, static_cast<size_t>(end - p)}) != Form::Word;
}

template <bool kLenient>
bool Lexer<kLenient>::closes(const char* quote, Within within) const {
  const char* p = skip_blanks(quote + 1);
  if (p >= end_) return true;
  if (within == Within::Key) return *p == ':';
  const bool in_object = within == Within::Object;
  if (*p == ',') return may_follow_string(skip_blanks(p + 1), in_object);
  if (*p != (in_object ? '}' : ']')) return false;
  p = skip_blanks(p + 1);
  return p >= end_ || *p == ',' || *p == '}' || *p == ']';
}

template <bool kLenient>
const char* Lexer<kLenient>::other_value(const char* p, Token& out) {
  if (*p == '[' || *p == '{') {
    const char* const stop = container(p);
    if (stop != nullptr)
      out = {p, static_cast<size_t>(stop - p), 0, Form::Container, Plain::No, -1, nullptr};
    return stop;
  }
  const char* const stop = token_end(p);
  if (stop == p || stop >= end_) return fail(stop);
  out = {p, static_cast<size_t>(stop - p), 0, Form::Word, Plain::No, -1, nullptr};
  out.form = form_of(out.text());
  if (!kLenient && out.form == Form::Word) return fail(stop - 1);
  if (out.form == Form::Word) repaired = true;
  return stop;
}

template <bool kLenient>
const char* Lexer<kLenient>::container(const char* p) {
  uint64_t objects = 0;  // one bit a level: is it an object?
  size_t depth = 0;
  for (;; p = find_structure(p)) {
    const bool in_object = (objects & 1) != 0;
    switch (*p) {
      case '[':
      case '{':
        if (++depth > max_depth_) {
          too_big = true;
          return fail(p);
        }
        objects = objects << 1 | (*p == '{' ? 1U : 0U);
        ++p;
        break;
      case ']':
      case '}':
        if (in_object != (*p == '}')) return fail(p);
        objects >>= 1;
        ++p;
        if (--depth == 0) return p;
        break;
      case '"': {
        Within within = in_object ? Within::Object : Within::Array;
        if (kLenient && in_object && before(p) != ':') within = Within::Key;
        const char* const quote = string(p, within);
        if (quote == nullptr) return nullptr;
        p = skip_blanks(quote + 1);
        if (*p != ',' && *p != ']' && *p != '}' && (*p != ':' || !in_object)) return fail(p);
        break;
      }
      default:
        if (p >= end_) return fail(p);
        if (!kLenient) return fail(p);  // NUL
        ++p;
        break;
    }
  }
}

template class Lexer<false>;
template class Lexer<true>;

}  // namespace dctx::trace_event
