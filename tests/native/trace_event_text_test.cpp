// Numbers, strings and places to go on at, below the level of events.
#include <cstring>
#include <string>

#include "check.hpp"
#include "scan/trace_event/chars.hpp"
#include "scan/trace_event/decimal.hpp"
#include "scan/trace_event/json_repair.hpp"
#include "scan/trace_event/lexer.hpp"
#include "scan/trace_event/resync.hpp"
#include "scan/trace_event/seen_texts.hpp"
#include "scan/trace_event/skipper.hpp"
#include "scan/trace_event/text_interner.hpp"

using namespace dctx::trace_event;

namespace {

std::string padded(const std::string& text) { return text + std::string(kPadding, '\0'); }

void test_searches() {
  for (size_t lead = 0; lead < 40; ++lead) {
    const std::string blanks = padded(std::string(lead, ' ') + "x");
    CHECK_EQUAL(static_cast<size_t>(skip_blanks(blanks.data()) - blanks.data()), lead);
    for (const char stop : {'"', '\\', '\n', '\0', '\x1f'}) {
      const std::string text = padded(std::string(lead, 'a') + stop);
      CHECK_EQUAL(static_cast<size_t>(find_string_stop(text.data()) - text.data()), lead);
    }
    for (const char stop : {'"', '[', ']', '{', '}', '\0'}) {
      const std::string text = padded(std::string(lead, ',') + stop);
      CHECK_EQUAL(static_cast<size_t>(find_structure(text.data()) - text.data()), lead);
    }
    const std::string high = padded(std::string(lead, '\xff') + '"');
    CHECK_EQUAL(static_cast<size_t>(find_string_stop(high.data()) - high.data()), lead);
  }
}

int64_t integer(const std::string& text, NumberKind expected) {
  int64_t value = 0;
  CHECK(parse_integer(text, value) == expected);
  return value;
}

void test_integers() {
  CHECK_EQUAL(integer("42", NumberKind::Fine), 42);
  CHECK_EQUAL(integer("-9223372036854775808", NumberKind::Fine), INT64_MIN);
  CHECK_EQUAL(integer("9223372036854775807", NumberKind::Fine), INT64_MAX);
  CHECK_EQUAL(integer("18446744073709551615", NumberKind::Wide), -1);
  integer("18446744073709551616", NumberKind::TooWide);
  integer("-9223372036854775809", NumberKind::TooWide);
  integer("1e30", NumberKind::TooWide);
  CHECK_EQUAL(integer("40.0", NumberKind::Fine), 40);
  CHECK_EQUAL(integer("4.2e3", NumberKind::Fine), 4200);
  CHECK_EQUAL(integer("0e99999999999", NumberKind::Fine), 0);
  integer("4.5", NumberKind::None);
  CHECK_EQUAL(integer("0x7fFF", NumberKind::Fine), 0x7FFF);
  CHECK_EQUAL(integer("0xffffffffffffffff", NumberKind::Fine), -1);
  integer("0x10000000000000000", NumberKind::TooWide);
  for (const char* none : {"", " ", "-", "x", "1x", "0x", "0xg", "1e", "1e+", ".", "--1", "1 2"}) {
    integer(none, NumberKind::None);
  }
  for (const char* word : {"inf", "-inf", "nan", "NaN", "Infinity", "N/A"}) {
    integer(word, NumberKind::NonFinite);
  }
}

void test_reals() {
  double value = 0;
  CHECK(parse_real("4.740741", value) == NumberKind::Fine);
  CHECK_EQUAL(value, 4.740741);
  CHECK(parse_real("-1e-7", value) == NumberKind::Fine);
  CHECK_EQUAL(value, -1e-7);
  CHECK(parse_real("123456789012345678901234567890", value) == NumberKind::Fine);
  CHECK_EQUAL(value, 123456789012345678901234567890.0);
  CHECK(parse_real("1e-400", value) == NumberKind::Fine);
  CHECK_EQUAL(value, 0.0);
  CHECK(parse_real("1e400", value) == NumberKind::NonFinite);
  CHECK(parse_real("0x10", value) == NumberKind::Fine);
  CHECK_EQUAL(value, 16.0);
}

int64_t micros(const std::string& text) {
  Micros value;
  CHECK(parse_micros(text, value) == TimeKind::Fine);
  return value.rounded();
}

void test_times() {
  CHECK_EQUAL(micros("1712195495527376.234"), 1712195495527376234);
  CHECK_EQUAL(micros("0.0005"), 1);
  CHECK_EQUAL(micros("0.00049999999999999999999"), 0);
  CHECK_EQUAL(micros("-0.0005"), -1);
  CHECK_EQUAL(micros("9.9999999999999995e-07"), 0);
  CHECK_EQUAL(micros("00012.5"), 12'500);
  CHECK_EQUAL(micros("12."), 12'000);
  Micros value;
  CHECK(parse_micros("9200000000000001", value) == TimeKind::Overflow);
  CHECK(parse_micros("1e999999999", value) == TimeKind::Overflow);
  CHECK(parse_micros("99999999999999999999999999999999", value) == TimeKind::Overflow);
  CHECK(parse_micros("nan", value) == TimeKind::NonFinite);
  CHECK(parse_micros("1.2.3", value) == TimeKind::None);
  Micros start;
  Micros length;
  parse_micros("1.0004", start);
  parse_micros("0.0004", length);
  CHECK_EQUAL(rounded_length(start, length), 1);  // 1000.4 ns + 0.4 ns = 1000.8 ns
}

std::string unescaped(const std::string& body) {
  std::string out;
  unescape(body, out);
  return out;
}

std::string normal(const std::string& json) {
  std::string out;
  normalise_json(json, out);
  return out;
}

void test_repairs() {
  CHECK_EQUAL(unescaped("a\\\"b\\\\c\\/\\u00e9\\ud83d\\ude00"), std::string("a\"b\\c/é😀"));
  CHECK_EQUAL(unescaped("\\x\\"), std::string("\\x\\"));
  CHECK_EQUAL(unescaped("\\ud83d\\u0041"), std::string("\xEF\xBF\xBD"
                                                       "A"));
  CHECK_EQUAL(unescaped("\\udc00"), std::string("\xEF\xBF\xBD"));
  CHECK_EQUAL(unescaped("\\u12"), std::string("\xEF\xBF\xBD"));
  CHECK_EQUAL(normal("{ \"a\" : [ 1 , 2.50, inf ] }"), std::string("{\"a\":[1,2.50,null]}"));
  CHECK_EQUAL(normal("[\"a \"b\" c\", 1]"), std::string("[\"a \\\"b\\\" c\",1]"));
  CHECK_EQUAL(normal("[1, 2"), std::string("[1,2]"));
  CHECK_EQUAL(normal("{\"a\": }"), std::string("{\"a\":null}"));
  CHECK_EQUAL(normal("[01, +1, 1., x]"), std::string("[null,null,null,null]"));
  CHECK_EQUAL(normal(""), std::string("null"));
  CHECK_EQUAL(normal("\"a\nb\""), std::string("\"a\\u000ab\""));
}

// Ids of numbers are none of texts: what is expected must be of the form that the place has ids of.
void test_expected_texts() {
  const std::string text = padded("12,\"12\",\"1234\",12x,123,");
  const std::string known = padded("12");
  const char* const end = text.data() + text.size() - kPadding;
  const char* const number = text.data();
  const char* const string = number + 3;
  const int here = 0;
  const int there = 0;
  SeenText seen;
  CHECK(seen.end_at(number, end, &here, Form::Number) == nullptr);
  seen.expect(&here);
  seen.keep({known.data(), 2}, 7, Form::String);
  CHECK(seen.end_at(string, end, &here, Form::String) == string + 4);
  CHECK(seen.end_at(string, end, &here, Form::Number) == nullptr);
  CHECK(seen.end_at(string, end, &there, Form::String) == nullptr);
  CHECK(seen.end_at(string, string + 3, &here, Form::String) == nullptr);  // cut there
  CHECK(seen.end_at(string + 5, end, &here, Form::String) == nullptr);
  CHECK(seen.end_at(number, end, &here, Form::String) == nullptr);
  seen.keep({known.data(), 2}, 7, Form::Number);
  CHECK(seen.end_at(number, end, &here, Form::Number) == number + 2);
  CHECK(seen.end_at(number + 15, end, &here, Form::Number) == nullptr);  // 12x
  CHECK(seen.end_at(number + 19, end, &here, Form::Number) == nullptr);  // 123
}

void test_places_to_go_on() {
  const std::string text = padded("x,{\"note\":1},\n {\"a\": {\"ph\": 1}},{ \"ph\":\"X\"}");
  const char* const end = text.data() + text.size() - kPadding;
  const Found event = find_again(text.data(), '\0', {end, true}, kEvent);
  CHECK(event.found);
  CHECK_EQUAL(static_cast<size_t>(event.at - text.data()), text.find("{ \"ph\""));
  // Undecided at the first brace that more bytes might make an event of.
  const Found later = find_again(text.data(), '\0', {end, false}, kEvent);
  CHECK(!later.found);
  CHECK_EQUAL(static_cast<size_t>(later.at - text.data()), size_t{2});
  const std::string tail = padded("{bad], \"Input type\": [], ], \"traceName\": 1}");
  const Sight whole{tail.data() + tail.size() - kPadding, true};
  const Found stop = find_again(tail.data() + 1, '{', whole, kEvent | kEndOfEvents);
  CHECK(stop.found);
  CHECK_EQUAL(static_cast<size_t>(stop.at - tail.data()), tail.find("], \"traceName"));
  const Found key = find_again(tail.data(), '\0', whole, kEnvelopeKey);
  CHECK(key.found);
  CHECK_EQUAL(static_cast<size_t>(key.at - tail.data()), tail.find("\"traceName"));
}

void test_skipping() {
  const std::string value = "{\"a\": [\"]}\\\"\", {\"b\": 1}]}";
  const std::string text = value + ", 1";
  for (size_t first = 0; first <= value.size(); ++first) {
    Skipper skipper;
    size_t used = skipper.skip(text.data(), first);
    CHECK_EQUAL(used, first);
    if (!skipper.done()) used += skipper.skip(text.data() + first, text.size() - first);
    CHECK(skipper.done());
    CHECK_EQUAL(used, value.size());
  }
  Skipper number;
  CHECK_EQUAL(number.skip("12, 3", 5), size_t{2});
  CHECK(number.done());
}

void test_interning() {
  TextInterner texts(1'000, 1 << 20);
  CHECK_EQUAL(texts.intern("a", TextForm::Body), 0);
  CHECK_EQUAL(texts.intern("a", TextForm::Json), 1);
  CHECK_EQUAL(texts.intern("", TextForm::Body), 2);
  CHECK_EQUAL(texts.intern("a", TextForm::Body), 0);
  const std::string longer(300'000, 'x');
  CHECK_EQUAL(texts.intern(longer, TextForm::Body), 3);
  CHECK(texts.text(3) == longer);
  for (int i = 4; i < 1'000; ++i) CHECK_EQUAL(texts.intern(std::to_string(i), TextForm::Body), i);
  CHECK_EQUAL(texts.intern("one more", TextForm::Body), -1);
  CHECK_EQUAL(texts.intern("999", TextForm::Body), 999);
}

}  // namespace

int main() {
  test_searches();
  test_integers();
  test_reals();
  test_times();
  test_repairs();
  test_expected_texts();
  test_places_to_go_on();
  test_skipping();
  test_interning();
  return dctx_test::report();
}
