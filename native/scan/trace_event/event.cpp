#include "scan/trace_event/event.hpp"

#include <cstring>

namespace dctx::trace_event {
namespace {

constexpr size_t kDupWindow = 64;  // keys of one object among which repeated ones are looked for
constexpr size_t kMaxArgs = 65'536;

void count_number(NumberKind kind, const Token& token, EventNotes& notes) {
  if (kind == NumberKind::NonFinite) ++notes.non_finite;
  if (kind == NumberKind::Wide || kind == NumberKind::TooWide) ++notes.wide_int;
  if (token.form == Form::String && (kind == NumberKind::Fine || kind == NumberKind::Wide)) {
    ++notes.coerced;
  }
}

// Whether the value is one of the column, or nothing at all (then it is not kept as text either).
bool take_value(const Token& token, ArgKey key, Event& out) {
  const auto index = static_cast<size_t>(key.arg);
  switch (key.type) {
    case ArgType::Integer: {
      int64_t value = 0;
      if (token.form == Form::Container || token.form == Form::Word) return false;
      if (token.form == Form::Literal) return token.is_null();
      if (token.plain == Plain::Integer) {
        out.integer[index] = token.number;
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
  if (token.plain != Plain::No) {
    value = Micros();
    value.ns = token.plain == Plain::Integer ? token.number * 1000 : token.number;
    if (token.plain == Plain::Thousandth && value.ns % 1000 != 0) {
      value.fraction = value.ns % 250 == 0 ? 1 : 2;
    }
    state = TimeState::Fine;
    return;
  }
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

// What the last of the args is.
void place_arg(Event& out) {
  const size_t last = out.args.size() - 1;
  EventArg& entry = out.args[last];
  const ArgKey known = find_arg(entry.key);
  entry.arg = known.arg;
  entry.replaced = false;
  if (known.arg == Arg::Other) {
    out.other_args = true;
    if (entry.value.form == Form::NonFinite) ++out.notes.non_finite;
    for (size_t i = last > kDupWindow ? last - kDupWindow : 0; i < last; ++i) {
      EventArg& before = out.args[i];
      if (before.arg == Arg::Other && before.key == entry.key && !before.replaced) {
        before.replaced = true;
        ++out.notes.dup_key;
      }
    }
    return;
  }
  const auto index = static_cast<size_t>(known.arg);
  const uint32_t before = out.entry[index];
  if (before < last && out.args[before].arg == known.arg && !out.args[before].replaced) {
    out.args[before].replaced = true;
    out.present.remove(known.arg);
    ++out.notes.dup_key;
  }
  out.entry[index] = static_cast<uint32_t>(last);
  if (!take_value(entry.value, known, out)) {  // it goes with the other args
    entry.arg = Arg::Other;
    out.other_args = true;
  }
}

template <bool kLenient>
const char* read_args(const char* p, Lexer<kLenient>& lexer, Event& out) {
  p = skip_blanks(p + 1);
  if (*p == '}') return p + 1;
  for (;;) {
    if (*p != '"') return lexer.fail(p);
    if (out.args.size() == kMaxArgs) {
      lexer.too_big = true;
      return lexer.fail(p);
    }
    EventArg& entry = out.args.next();
    if ((p = lexer.key(p, entry.key)) == nullptr) return nullptr;
    if ((p = lexer.value(skip_blanks(p), Within::Object, entry.value)) == nullptr) return nullptr;
    place_arg(out);
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
    std::string_view text;
    if (*p != '"') return lexer.fail(p);
    if ((p = lexer.key(p, text)) == nullptr) return nullptr;
    p = skip_blanks(p);
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
        out.nested |= out.odd_args.form == Form::Container;
      }
    } else if (Token* const token = token_of(text, out)) {
      if (token->form != Form::None) ++out.notes.dup_key;
      if ((p = lexer.value(p, Within::Object, *token)) == nullptr) return nullptr;
      out.nested |= token->form == Form::Container;
    } else {
      Token value;
      if ((p = lexer.value(p, Within::Object, value)) == nullptr) return nullptr;
      out.nested |= value.form == Form::Container;
      if (text == "ts") {
        if (out.has_ts != TimeState::Missing) ++out.notes.dup_key;
        take_time(value, out.ts, out.has_ts, out.notes);
      } else if (text == "dur") {
        if (out.has_dur != TimeState::Missing) ++out.notes.dup_key;
        take_time(value, out.dur, out.has_dur, out.notes);
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
