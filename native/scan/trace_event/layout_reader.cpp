// Reading events in layouts that were learnt.
#include <cstring>

#include "scan/trace_event/layouts.hpp"

namespace dctx::trace_event {
namespace {

constexpr uint64_t kMix = 0xd6e8feb86659fd93ULL;
constexpr uint64_t kMostMicros = 9'200'000'000'000'000;

bool ends_number(char c) { return c == ',' || c == '}' || c == '\n' || c == ' '; }

void set(Token& token, const char* begin, const char* end, Form form) {
  token.data = begin;
  token.size = static_cast<size_t>(end - begin);
  token.form = form;
  token.plain = Plain::No;
  token.id = -1;
  token.seen = nullptr;
}

// Digits, a point and three more of them; or digits alone. nullptr for other texts.
inline const char* read_plain_time(const char* p, Micros& time) {
  uint64_t whole = 0;
  const size_t digits = read_digits(p, whole);
  if (digits == 0 || digits > kMostDigits || whole > kMostMicros) return nullptr;
  p += digits;
  uint64_t fraction = 0;
  if (*p == '.') {
    if (detail::leading_digits(p + 1, fraction) != 3) return nullptr;
    p += 4;
  }
  if (!ends_number(*p)) return nullptr;
  time.ns = static_cast<int64_t>(whole * 1000 + fraction);
  time.part = 0;
  time.negative = false;
  time.fraction = fraction == 0 ? 0 : fraction % 250 == 0 ? 1 : 2;
  return p;
}

inline const char* read_plain_integer(const char* p, int64_t& out) {
  const bool negative = *p == '-';
  if (negative) ++p;
  uint64_t value = 0;
  const size_t digits = read_digits(p, value);
  if (digits == 0 || digits > kMostDigits || !ends_number(p[digits])) return nullptr;
  out = negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
  return p + digits;
}

}  // namespace

Layouts::Link* Layouts::choose_other(Link& parent, Link*& likely, const char* p) {
  for (Link* child = parent.first_child; child != nullptr; child = child->sibling) {
    if (child != likely && stands_at(*child, p)) return likely = child;
  }
  return nullptr;
}

// The args of an event that follows the same names are expected to be the same.
SeenText& Layouts::expected(const Link& link) {
  const uint64_t name = name_ == nullptr ? 0 : static_cast<uint32_t>(name_->id);
  return seen_.at((context_ ^ name) * kMix ^ link.number * kMix);
}

const char* Layouts::read(const char* p, const char* end, size_t max_depth, Event& out) {
  Link* link = last_->likely;
  if (link == nullptr || !stands_at(*link, p)) link = choose_other(root_, last_->likely, p);
  if (link == nullptr) return nullptr;
  out.clear();
  out.begin = p;
  out.empty = false;
  missing_.clear();
  Lexer<false> lexer(end, max_depth);
  for (;;) {
    for (size_t i = 0; i < link->constant_count; ++i) {
      Constant& constant = link->constants[i];
      Token& token = out.*constant.field;
      const char* const text = p + constant.at;
      set(token, text, text + constant.size, Form::String);
      token.id = constant.seen.id;
      token.seen = &constant.seen;
    }
    p += link->size;
    const char* stop;
    switch (link->kind) {
      case ValueKind::Ts:
        stop = read_plain_time(p, out.ts);
        if (stop != nullptr) {
          out.has_ts = TimeState::Fine;
        } else {
          stop = read_odd_time(p, lexer, out, out.ts, out.has_ts);
        }
        break;
      case ValueKind::Dur:
        stop = read_plain_time(p, out.dur);
        if (stop != nullptr) {
          out.has_dur = TimeState::Fine;
        } else {
          stop = read_odd_time(p, lexer, out, out.dur, out.has_dur);
        }
        break;
      case ValueKind::Integer:
        stop = read_plain_integer(p, out.integer[static_cast<size_t>(link->arg)]);
        if (stop == nullptr) {
          stop = read_odd(p, *link, ArgType::Integer, lexer, out);
        } else if (link->lists) {
          set(list(p, *link, out).value, p, stop, Form::Number);
        }
        break;
      case ValueKind::End:
        last_ = link;
        out.present = link->present.without(missing_);
        out.other_args |= link->other_args;
        out.listed = link->lists;
        out.end = p;
        out.notes.repaired = lexer.repaired;
        return p;
      case ValueKind::Place:
        stop = read_place(p, *link, lexer, out);
        break;
      case ValueKind::Name:
        stop = read_name(p, *link, lexer, out);
        break;
      default:
        stop = read_other(p, *link, lexer, out);
        break;
    }
    if (stop == nullptr) return nullptr;
    p = stop;
    Link* next = link->likely;
    if (next == nullptr || !stands_at(*next, p)) {
      next = choose_other(*link, link->likely, p);
      if (next == nullptr) return nullptr;
    }
    link = next;
  }
}

const char* Layouts::read_other(const char* p, Link& link, Lexer<false>& lexer, Event& out) {
  switch (link.kind) {
    case ValueKind::Field:
      return read_field(p, link, lexer, out);
    case ValueKind::Real:
      return read_real(p, link, lexer, out);
    case ValueKind::Text:
      return read_text(p, link, lexer, out);
    case ValueKind::OtherArg: {
      EventArg& entry = list(p, link, out);
      p = lexer.value(p, Within::Object, entry.value);
      if (entry.value.form == Form::NonFinite) ++out.notes.non_finite;
      return p;
    }
    default: {  // of a key that is skipped
      Token token;
      p = lexer.value(p, Within::Object, token);
      return token.form == Form::Container ? nullptr : p;
    }
  }
}

const char* Layouts::read_field(const char* p, Link& link, Lexer<false>& lexer, Event& out) {
  Token& token = out.*link.field;
  p = lexer.value(p, Within::Object, token);
  return token.form == Form::Container ? nullptr : p;
}

// Expects the last one again.
const char* Layouts::read_place(const char* p, Link& link, Lexer<false>& lexer, Event& out) {
  Token& token = out.*link.field;
  SeenText& last = link.last;
  if (const char* const stop = last.end_at(p, lexer.end(), &link, last.form)) {
    const size_t quotes = last.form == Form::String ? 1 : 0;
    set(token, p + quotes, stop - quotes, last.form);
    token.id = last.id;
    token.seen = &last;
    return stop;
  }
  p = read_field(p, link, lexer, out);
  last.place = nullptr;
  const bool text = token.form == Form::String || token.form == Form::Number;
  if (p == nullptr || !text || token.size > kShort || lexer.repaired) return p;
  std::memcpy(link.last_text, token.data, token.size);
  last.place = &link;
  last.keep({link.last_text, token.size}, -1, token.form);
  token.seen = &last;
  return p;
}

// Expects the one that followed the last names here.
const char* Layouts::read_name(const char* p, Link& link, Lexer<false>& lexer, Event& out) {
  Token& token = out.*link.field;
  if (link.last_name != nullptr) {
    link.history = link.history << 21 ^ static_cast<uint32_t>(link.last_name->id);
  }
  context_ = (link.history ^ link.history >> 31) * kMix;
  SeenText& seen = seen_.at(context_ ^ link.number * kMix);
  name_ = link.last_name = &seen;
  if (const char* const stop = seen.end_at(p, lexer.end(), &link, Form::String)) {
    set(token, p + 1, stop - 1, Form::String);
    token.id = seen.id;
    return stop;
  }
  p = read_field(p, link, lexer, out);
  seen.expect(&link);
  if (p != nullptr && token.form == Form::String && !lexer.repaired) token.seen = &seen;
  return p;
}

const char* Layouts::read_odd_time(const char* p, Lexer<false>& lexer, Event& out, Micros& time,
                                   TimeState& state) {
  Token token;
  p = lexer.value(p, Within::Object, token);
  if (p == nullptr || token.form == Form::Container) return nullptr;
  take_time(token, time, state, out.notes);
  return p;
}

EventArg& Layouts::list(const char* p, const Link& link, Event& out) {
  if (link.arg != Arg::Other) {
    out.entry[static_cast<size_t>(link.arg)] = static_cast<uint32_t>(out.args.size());
  }
  EventArg& entry = out.args.next();
  entry.key = {p - link.key_back, link.key_size};
  entry.arg = link.arg;
  entry.replaced = false;
  return entry;
}

// Lists it too: what is odd may be of no use to the column.
const char* Layouts::read_odd(const char* p, const Link& link, ArgType type, Lexer<false>& lexer,
                              Event& out) {
  EventArg& entry = list(p, link, out);
  p = lexer.value(p, Within::Object, entry.value);
  if (p == nullptr) return nullptr;
  if (!take_value(entry.value, {link.arg, type}, out)) {
    entry.arg = Arg::Other;
    out.other_args = true;
  }
  if (!out.present.has(link.arg)) missing_.add(link.arg);
  return p;
}

const char* Layouts::read_real(const char* p, const Link& link, Lexer<false>& lexer, Event& out) {
  SeenText& seen = expected(link);
  const auto index = static_cast<size_t>(link.arg);
  if (const char* const stop = seen.end_at(p, lexer.end(), &link, Form::Number)) {
    if (link.lists) set(list(p, link, out).value, p, stop, Form::Number);
    out.real[index] = reals_[static_cast<size_t>(seen.id)];
    return stop;
  }
  const size_t entry = out.args.size();
  p = read_odd(p, link, ArgType::Real, lexer, out);
  if (p == nullptr || !out.present.has(link.arg)) return p;
  const Token& token = out.args[entry].value;
  if (token.form != Form::Number) return p;
  const int32_t id = real_texts_.intern(token.text(), TextForm::Body);
  if (id < 0) return p;
  if (static_cast<size_t>(id) == reals_.size()) reals_.push_back(out.real[index]);
  seen.keep(real_texts_.text(id), id, Form::Number);
  seen.place = &link;
  return p;
}

const char* Layouts::read_text(const char* p, const Link& link, Lexer<false>& lexer, Event& out) {
  SeenText& seen = expected(link);
  if (const char* const stop = seen.end_at(p, lexer.end(), &link, seen.form)) {
    const size_t quotes = seen.form == Form::String ? 1 : 0;
    Token& token = list(p, link, out).value;
    set(token, p + quotes, stop - quotes, seen.form);
    token.id = seen.id;
    return stop;
  }
  const size_t entry = out.args.size();
  p = read_odd(p, link, ArgType::Text, lexer, out);
  if (p == nullptr || lexer.repaired) return p;
  Token& token = out.args[entry].value;
  if (token.form == Form::String || token.form == Form::Container) {
    seen.expect(&link);
    token.seen = &seen;
  }
  return p;
}

}  // namespace dctx::trace_event
