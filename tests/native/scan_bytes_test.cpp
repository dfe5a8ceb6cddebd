// Varints, texts and the conversions between SQLite's types.
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "common/utf8.hpp"
#include "scan/bytes.hpp"
#include "scan/value.hpp"
#include "sqlite_sample.hpp"

using namespace dctx;
using namespace dctx::scan;
using namespace dctx_test;

namespace {

const uint8_t* bytes_of(const std::string& text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

void test_varints() {
  const uint64_t values[] = {0,
                             1,
                             127,
                             128,
                             16'383,
                             16'384,
                             0xFFFFFFFF,
                             (uint64_t{1} << 56) - 1,
                             uint64_t{1} << 56,
                             uint64_t{1} << 63,
                             std::numeric_limits<uint64_t>::max()};
  const size_t lengths[] = {1, 1, 1, 2, 2, 3, 5, 8, 9, 9, 9};
  for (size_t i = 0; i < std::size(values); ++i) {
    const std::string text = varint(values[i]);
    CHECK_EQUAL(text.size(), lengths[i]);
    uint64_t value = 0;
    const uint8_t* end = read_varint(bytes_of(text), bytes_of(text) + text.size(), value);
    CHECK(end == bytes_of(text) + text.size());
    CHECK_EQUAL(value, values[i]);
    // One byte short of it: no value.
    CHECK(read_varint(bytes_of(text), bytes_of(text) + text.size() - 1, value) == nullptr);
  }
}

std::string repaired(const std::string& text) {
  std::vector<char> out;
  append_utf8(text, out);
  return {out.begin(), out.end()};
}

void test_utf8() {
  const std::string mark = "\xEF\xBF\xBD";
  const std::string good = "plain, \xC3\xA4, \xE2\x82\xAC, \xF0\x9F\x98\x80, \xEE\x80\x80";
  CHECK_EQUAL(repaired(good), good);
  CHECK_EQUAL(repaired(""), std::string());
  CHECK_EQUAL(repaired("a\x80z"), "a" + mark + "z");
  CHECK_EQUAL(repaired("\xC0\x80"), mark + mark);                        // overlong
  CHECK_EQUAL(repaired("\xED\xA0\x80"), mark + mark + mark);             // half of a surrogate pair
  CHECK_EQUAL(repaired("\xF4\x90\x80\x80"), mark + mark + mark + mark);  // past U+10FFFF
  CHECK_EQUAL(repaired("\xF0\x9F\x98"), mark);                           // cut: one maximal part
  CHECK_EQUAL(repaired("\xE2\x82"
                       "a"),
              mark + "a");
}

void test_numbers() {
  CHECK(parse_integer("42") == 42);
  CHECK(parse_integer(" +42\n") == 42);
  CHECK(parse_integer("-9223372036854775808") == std::numeric_limits<int64_t>::min());
  for (const char* text : {"", " ", "+", "+-1", "1 2", "1.0", "0x10", "9223372036854775808"}) {
    CHECK(!parse_integer(text));
  }
  CHECK(parse_real("1.5e3") == 1500.0);
  CHECK(parse_real(" -.5 ") == -0.5);
  CHECK(parse_real("+2.") == 2.0);
  for (const char* text : {"", ".", "-", "inf", "nan", "-nan", "1e", "1.5x"}) {
    CHECK(!parse_real(text));
  }
  // Past the doubles: as the SQLite library, which writes the largest one so in a text column.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(parse_real("1.79769313486232e+308") == kInfinity);
  CHECK(parse_real("-1e400") == -kInfinity);
  CHECK(parse_real("1e99999999999999999999") == kInfinity);
  CHECK(parse_real("1e-99999999999999999999") == 0.0);
  CHECK(parse_real("0." + std::string(400, '0') + "1") == 0.0);
  CHECK(parse_real("1" + std::string(400, '0') + ".5e-2") == kInfinity);
  CHECK(parse_real("1." + std::string(600, '0') + "e-500") == 0.0);
  CHECK(parse_real("0." + std::string(400, '0') + "1e900") == kInfinity);
  CHECK(truncate(-2.9) == -2);
  CHECK(truncate(-9223372036854775808.0) == std::numeric_limits<int64_t>::min());
  CHECK(!truncate(9223372036854775808.0));
  CHECK(!truncate(std::numeric_limits<double>::quiet_NaN()));
  CHECK_EQUAL(format_real(0.1), std::string("0.10000000000000001"));
  CHECK_EQUAL(format_real(3.0), std::string("3"));
  CHECK_EQUAL(format_real(1e300), std::string("1.0000000000000001e+300"));
}

}  // namespace

int main() {
  test_varints();
  test_utf8();
  test_numbers();
  return report();
}
