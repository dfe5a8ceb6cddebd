#include "scan/trace_event/event.hpp"

#include <cstring>

namespace dctx::trace_event {
namespace {

constexpr size_t kDupWindow = 64;  // keys of one object among which repeated ones are looked for
constexpr size_t kMaxArgs = 65'536;

bool same(const Token& a, const Token& b) {
  return a.size == b.size && std::memcmp(a.data, b.data, a.size) == 0;
}

void count_number(NumberKind kind, const Token& token, EventNotes& notes) {
  if (kind == NumberKind::NonFinite) ++notes.non_finite;
  if (kind == NumberKind::Wide || kind == NumberKind::TooWide) ++notes.wide_int;
  if (token.form == Form::String && (kind == NumberKind::Fine || kind == NumberKind::Wide)) {
    ++notes.coerced;
  }
}

// Most integers are a few digits.
bool plain_integer(const Token& token, int64_t& value) {
  if (token.size > 18) return false;
  int64_t number = 0;
  for (size_t i = 0; i < token.size; ++i) {
    const auto digit = static_cast<unsigned char>(token.data[i] - '0');
    if (digit > 9) return false;
    number = number * 10 + digit;
  }
  value = number;
  return token.size > 0;
}

// Whether the value is one of the column, or nothing at all (then it is not kept as text either).
bool take_value(const Token& token, ArgKey key, Event& out) {
  const auto index = static_cast<size_t>(key.arg);
  switch (key.type) {
    case ArgType::Integer: {
      int64_t value = 0;
      if (token.form == Form::Container || token.form == Form::Word) return false;
      if (token.form == Form::Literal) return token.is_null();
      if (token.form == Form::Number && plain_integer(token, value)) {
        out.integer[index] = value;
        out.present.add(key.arg);
        return true;
      }
      const NumberKind kind = parse_integer(token.text(), value);
      count_number(kind, token, out.notes);
      if (kind == NumberKind::Fine || kind == NumberKind::Wide) {
        out.integer[index] = value;
        out.present.add(key.arg);
      }
      return kind != NumberKind::None;
    }
    case ArgType::Real: {
      double value = 0;
      if (token.form == Form::Container || token.form == Form::Word) return false;
      if (token.form == Form::Literal) return token.is_null();
      const NumberKind kind = parse_real(token.text(), value);
      count_number(kind, token, out.notes);
      if (kind == NumberKind::Fine) {
        out.real[index] = value;
        out.present.add(key.arg);
      }
      return kind != NumberKind::None;
    }
    case ArgType::Text:
    case ArgType::Json:
      if (token.is_null()) return true;
      if (token.form == Form::NonFinite) {
        ++out.notes.non_finite;
        return true;
      }
      out.present.add(key.arg);
      return true;
  }
  return false;
}

void take_time(const Token& token, Micros& value, TimeState& state, EventNotes& notes) {
  if (token.is_null()) return;
  switch (token.form == Form::Container ? TimeKind::None : parse_micros(token.text(), value)) {
    case TimeKind::Fine:
      state = TimeState::Fine;
      if (token.form == Form::String) ++notes.coerced;
      break;
    case TimeKind::NonFinite:
      ++notes.non_finite;
      state = TimeState::Missing;
      break;
    case TimeKind::None:
    case TimeKind::Overflow:
      state = TimeState::Bad;
      break;
  }
}

void add_arg(const Token& key, const Token& value, Event& out) {
  ArgKey known = find_arg(key.text());
  Event::Entry entry{key, value, known.arg, false};
  if (known.arg == Arg::Other) {
    if (value.form == Form::NonFinite) ++out.notes.non_finite;
    const size_t first = out.args.size() > kDupWindow ? out.args.size() - kDupWindow : 0;
    for (size_t i = first; i < out.args.size(); ++i) {
      if (out.args[i].arg == Arg::Other && same(out.args[i].key, key) && !out.args[i].replaced) {
        out.args[i].replaced = true;
        ++out.notes.dup_key;
      }
    }
  } else {
    const auto index = static_cast<size_t>(known.arg);
    const uint32_t before = out.entry[index];
    if (before < out.args.size() && out.args[before].arg == known.arg &&
        !out.args[before].replaced) {
      out.args[before].replaced = true;
      out.present.remove(known.arg);
      ++out.notes.dup_key;
    }
    out.entry[index] = static_cast<uint32_t>(out.args.size());
    if (!take_value(value, known, out)) entry.arg = Arg::Other;  // it goes with the other args
  }
  if (entry.arg == Arg::Other) out.other_args = true;
  out.args.push_back(entry);
}

template <bool kLenient>
const char* read_args(const char* p, Lexer<kLenient>& lexer, Event& out) {
  p = skip_blanks(p + 1);
  if (*p == '}') return p + 1;
  for (;;) {
    Token key;
    Token value;
    if (*p != '"') return lexer.fail(p);
    if ((p = lexer.key(p, key)) == nullptr) return nullptr;
    if ((p = lexer.value(skip_blanks(p), Within::Object, value)) == nullptr) return nullptr;
    if (out.args.size() == kMaxArgs) {
      lexer.too_big = true;
      return lexer.fail(p);
    }
    add_arg(key, value, out);
    p = skip_blanks(p);
    if (*p == '}') return p + 1;
    if (*p == ',') {
      p = skip_blanks(p + 1);
      if (*p != '}') continue;
      ++out.notes.trailing_comma;
      return p + 1;
    }
    if (!kLenient || *p != '"') return lexer.fail(p);
  }
}

Token* token_of(std::string_view key, Event& out) {
  switch (key.size()) {
    case 2:
      if (key == "ph") return &out.ph;
      if (key == "id") return &out.id;
      break;
    case 3:
      if (key == "cat") return &out.cat;
      if (key == "pid") return &out.pid;
      if (key == "tid") return &out.tid;
      if (key == "id2") return &out.id2;
      break;
    case 4:
      if (key == "name") return &out.name;
      break;
    case 5:
      if (key == "scope") return &out.scope;
      break;
    default:
      break;
  }
  return nullptr;
}

}  // namespace

template <bool kLenient>
const char* read_event(const char* p, Lexer<kLenient>& lexer, Event& out) {
  out.clear();
  lexer.repaired = false;
  p = skip_blanks(p + 1);
  if (*p == '}') return p + 1;
  bool seen_args = false;
  for (;;) {
    Token key;
    Token value;
    if (*p != '"') return lexer.fail(p);
    if ((p = lexer.key(p, key)) == nullptr) return nullptr;
    p = skip_blanks(p);
    const std::string_view text = key.text();
    if (text == "args") {
      if (seen_args) {
        ++out.notes.dup_key;
        out.args.clear();
        out.present.clear();
        out.odd_args = Token();
      }
      seen_args = true;
      if (*p == '{') {
        if ((p = read_args(p, lexer, out)) == nullptr) return nullptr;
      } else {
        if ((p = lexer.value(p, Within::Object, out.odd_args)) == nullptr) return nullptr;
      }
    } else {
      if ((p = lexer.value(p, Within::Object, value)) == nullptr) return nullptr;
      if (text == "ts") {
        if (out.has_ts != TimeState::Missing) ++out.notes.dup_key;
        take_time(value, out.ts, out.has_ts, out.notes);
      } else if (text == "dur") {
        if (out.has_dur != TimeState::Missing) ++out.notes.dup_key;
        take_time(value, out.dur, out.has_dur, out.notes);
      } else if (Token* const token = token_of(text, out)) {
        if (token->form != Form::None) ++out.notes.dup_key;
        *token = value;
      }
    }
    out.empty = false;
    p = skip_blanks(p);
    if (*p == ',') {
      p = skip_blanks(p + 1);
      if (*p != '}') continue;
      ++out.notes.trailing_comma;
    }
    if (*p == '}') {
      out.notes.repaired = lexer.repaired;
      return p + 1;
    }
    if (!kLenient || *p != '"') return lexer.fail(p);
  }
}

template const char* read_event(const char*, Lexer<false>&, Event&);
template const char* read_event(const char*, Lexer<true>&, Event&);

}  // namespace dctx::trace_event
