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

}  // namespace

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

namespace {

// What the last of the args is.
ArgKey place_arg(Event& out) {
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
    return known;
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
  return known;
}

ValueKind kind_of(ArgKey known) {
  if (known.arg == Arg::Other) return ValueKind::OtherArg;
  if (known.type == ArgType::Integer) return ValueKind::Integer;
  return known.type == ArgType::Real ? ValueKind::Real : ValueKind::Text;
}

template <bool kLenient>
const char* read_args(const char* p, Lexer<kLenient>& lexer, Event& out, Trail* trail) {
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
    const char* const value = skip_blanks(p);
    if ((p = lexer.value(value, Within::Object, entry.value)) == nullptr) return nullptr;
    const ArgKey known = place_arg(out);
    if (trail != nullptr) {
      trail->add({kind_of(known), known.arg, nullptr, entry.key, value, p});
    }
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

ValueKind kind_of(Token Event::* field) {
  if (field == &Event::name) return ValueKind::Name;
  return field == &Event::pid || field == &Event::tid ? ValueKind::Place : ValueKind::Field;
}

Token Event::* field_of(std::string_view key) {
  switch (key.size()) {
    case 2:
      if (key == "ph") return &Event::ph;
      if (key == "id") return &Event::id;
      break;
    case 3:
      if (key == "cat") return &Event::cat;
      if (key == "pid") return &Event::pid;
      if (key == "tid") return &Event::tid;
      if (key == "id2") return &Event::id2;
      break;
    case 4:
      if (key == "name") return &Event::name;
      break;
    case 5:
      if (key == "scope") return &Event::scope;
      break;
    default:
      break;
  }
  return nullptr;
}

}  // namespace

template <bool kLenient>
const char* read_event(const char* p, Lexer<kLenient>& lexer, Event& out, Trail* trail) {
  out.clear();
  out.begin = p;
  if (trail != nullptr) trail->clear();
  lexer.repaired = false;
  p = skip_blanks(p + 1);
  if (*p == '}') return p + 1;
  bool seen_args = false;
  for (;;) {
    std::string_view text;
    if (*p != '"') return lexer.fail(p);
    if ((p = lexer.key(p, text)) == nullptr) return nullptr;
    p = skip_blanks(p);
    const char* const begin = p;
    if (text == "args") {
      if (seen_args) {
        ++out.notes.dup_key;
        out.args.clear();
        out.present.clear();
        out.odd_args = Token();
      }
      seen_args = true;
      if (*p == '{') {
        if ((p = read_args(p, lexer, out, trail)) == nullptr) return nullptr;
      } else {
        if ((p = lexer.value(p, Within::Object, out.odd_args)) == nullptr) return nullptr;
        out.nested |= out.odd_args.form == Form::Container;
        if (trail != nullptr) trail->learnable = false;
      }
    } else if (Token Event::* const field = field_of(text)) {
      Token& token = out.*field;
      if (token.form != Form::None) ++out.notes.dup_key;
      if ((p = lexer.value(p, Within::Object, token)) == nullptr) return nullptr;
      out.nested |= token.form == Form::Container;
      if (trail != nullptr) trail->add({kind_of(field), Arg::Other, field, text, begin, p});
    } else {
      Token value;
      ValueKind kind = ValueKind::Skipped;
      if ((p = lexer.value(p, Within::Object, value)) == nullptr) return nullptr;
      out.nested |= value.form == Form::Container;
      if (text == "ts") {
        kind = ValueKind::Ts;
        if (out.has_ts != TimeState::Missing) ++out.notes.dup_key;
        take_time(value, out.ts, out.has_ts, out.notes);
      } else if (text == "dur") {
        kind = ValueKind::Dur;
        if (out.has_dur != TimeState::Missing) ++out.notes.dup_key;
        take_time(value, out.dur, out.has_dur, out.notes);
      }
      if (trail != nullptr) trail->add({kind, Arg::Other, nullptr, text, begin, p});
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

template const char* read_event(const char*, Lexer<false>&, Event&, Trail*);
template const char* read_event(const char*, Lexer<true>&, Event&, Trail*);

}  // namespace dctx::trace_event
