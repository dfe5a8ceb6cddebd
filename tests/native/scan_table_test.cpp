// Tables read from files written byte by byte: records, trees, overflow chains, damage.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "scan/bytes.hpp"
#include "scan/table.hpp"
#include "sqlite_sample.hpp"

using namespace dctx;
using namespace dctx::scan;
using namespace dctx_test;

namespace {

constexpr int64_t kNull = std::numeric_limits<int64_t>::min();

using Integers = std::vector<int64_t>;

TableData read(const PageFile& file, const std::vector<AskedColumn>& asked, unsigned threads = 1,
               bool salvage = false) {
  const std::vector<TableDef> tables = read_schema(file, false);
  const TableDef& table = tables.at(0);
  return read_table(file, table, locate_rows(file, table, threads), asked, Share(), threads,
                    salvage);
}

Integers integers(const TableData& data, size_t column) {
  const auto* values = static_cast<const int64_t*>(data.columns[column].values->data());
  return {values, values + data.rows};
}

std::vector<int32_t> narrow(const TableData& data, size_t column) {
  const auto* values = static_cast<const int32_t*>(data.columns[column].values->data());
  return {values, values + data.rows};
}

std::vector<double> reals(const TableData& data, size_t column) {
  const auto* values = static_cast<const double*>(data.columns[column].values->data());
  return {values, values + data.rows};
}

std::vector<std::string> texts(const TableData& data, size_t column) {
  std::vector<std::string> out;
  const TextData& column_texts = *data.columns[column].texts;
  for (size_t i = 0; i < column_texts.size(); ++i) {
    out.push_back(column_texts.is_null(i) ? "(null)" : std::string(column_texts[i]));
  }
  return out;
}

AskedColumn i64(const std::string& name) { return {name, ColumnKind::I64, std::nullopt}; }
AskedColumn i32(const std::string& name) { return {name, ColumnKind::I32, std::nullopt}; }
AskedColumn f64(const std::string& name) { return {name, ColumnKind::F64, std::nullopt}; }
AskedColumn text(const std::string& name) { return {name, ColumnKind::Text, std::nullopt}; }

void test_serial_types() {
  const Integers numbers = {0,
                            1,
                            -1,
                            127,
                            -128,
                            128,
                            32'767,
                            -32'769,
                            8'388'607,
                            -8'388'609,
                            2'147'483'647,
                            -2'147'483'649,
                            (int64_t{1} << 47) - 1,
                            -(int64_t{1} << 47) - 1,
                            std::numeric_limits<int64_t>::max(),
                            kNull + 1};
  std::vector<Row> rows;
  Integers rowids;
  std::vector<std::string> printed;
  std::vector<double> as_reals;
  for (const int64_t number : numbers) {
    printed.push_back(std::to_string(number));
    as_reals.push_back(static_cast<double>(number));
    rows.push_back({number, as_reals.back(), Value(), printed.back(), Value()});
    rowids.push_back(3 * static_cast<int64_t>(rows.size()));
  }
  SampleDb db;
  db.add_table("t", "CREATE TABLE t(a INTEGER, b REAL, c, d TEXT, id INTEGER PRIMARY KEY)", rows,
               3);
  const MemoryFile memory(db.bytes());
  const PageFile file(memory.path());
  const TableData data =
      read(file, {i64("a"), f64("b"), {"C", ColumnKind::I64, 99}, text("d"), i64("id")});
  CHECK_EQUAL(integers(data, 0), numbers);
  CHECK_EQUAL(reals(data, 1), as_reals);
  CHECK_EQUAL(integers(data, 2), Integers(numbers.size(), 99));
  CHECK_EQUAL(data.columns[2].null_count, uint64_t{numbers.size()});
  CHECK_EQUAL(texts(data, 3), printed);
  CHECK_EQUAL(integers(data, 4), rowids);
  CHECK_EQUAL(data.converted, uint64_t{0});
  CHECK_THROWS(read(file, {i64("missing")}), std::out_of_range);
  CHECK_THROWS(read(file, {i64("a"), text("A")}), std::invalid_argument);
}

void test_conversions() {
  SampleDb db;
  db.add_table("t", "CREATE TABLE t(a, b, c, d)",
               {{std::string(" 12 "), std::string("12"), std::string("1.5"), int64_t{5}},
                {2.75, int64_t{1} << 40, int64_t{3}, 0.5},
                {Blob{"12"}, 3e9, Blob{"1"}, Blob{"raw"}},
                {std::string("none"), int64_t{0xFFFFFFFF}, std::string("none"), Value()}});
  const MemoryFile memory(db.bytes());
  const PageFile file(memory.path());
  const TableData data = read(file, {i64("a"), i32("b"), f64("c"), text("d")});
  CHECK_EQUAL(integers(data, 0), (Integers{12, 2, kNull, kNull}));
  CHECK_EQUAL(narrow(data, 1),
              (std::vector<int32_t>{12, 0, static_cast<int32_t>(3'000'000'000U), -1}));
  CHECK_EQUAL(reals(data, 2)[0], 1.5);
  CHECK_EQUAL(reals(data, 2)[1], 3.0);
  CHECK(std::isnan(reals(data, 2)[2]) && std::isnan(reals(data, 2)[3]));
  CHECK_EQUAL(texts(data, 3), (std::vector<std::string>{"5", "0.5", "raw", "(null)"}));
  // All of a; of b the text and the number beyond 32 bits; of c all but the integer; of d all.
  CHECK_EQUAL(data.converted, uint64_t{4 + 2 + 3 + 3});
  CHECK_EQUAL(data.columns[0].null_count, uint64_t{2});
}

void test_short_records() {
  SampleDb db;
  db.add_table(
      "t", "CREATE TABLE t(a, b INTEGER DEFAULT 7, c TEXT DEFAULT 'x', d)",
      {{int64_t{1}}, {int64_t{2}, int64_t{3}}, {int64_t{4}, Value(), Value(), int64_t{5}}});
  const MemoryFile memory(db.bytes());
  const TableData data = read(PageFile(memory.path()), {i64("a"), i64("b"), text("c"), i64("d")});
  CHECK_EQUAL(integers(data, 1), (Integers{7, 3, kNull}));
  CHECK_EQUAL(texts(data, 2), (std::vector<std::string>{"x", "x", "(null)"}));
  CHECK_EQUAL(integers(data, 3), (Integers{kNull, kNull, 5}));
}

// A table of several levels, texts of all lengths around the overflow limits.
struct Tall {
  explicit Tall(size_t page_size, size_t reserved = 0, size_t count = 700)
      : db(page_size, reserved) {
    for (size_t i = 0; i < count; ++i) {
      values.push_back(static_cast<int64_t>(i * i));
      const size_t length = i % 50 == 49 ? i * 5 : i % 90;
      long_texts.emplace_back(length, static_cast<char>('a' + i % 26));
      rows.push_back({values.back(), long_texts.back(), -values.back()});
    }
    root = db.add_table("t", "CREATE TABLE t(a INTEGER, b TEXT, c INTEGER)", rows);
    bytes = db.bytes();
  }

  SampleDb db;
  Integers values;
  std::vector<std::string> long_texts;
  std::vector<Row> rows;
  uint32_t root = 0;
  std::string bytes;
};

void test_trees() {
  for (const size_t page_size : {size_t{512}, size_t{4096}, size_t{65536}}) {
    for (const size_t reserved : {size_t{0}, size_t{32}}) {
      const Tall tall(page_size, reserved);
      const MemoryFile memory(tall.bytes);
      const PageFile file(memory.path());
      CHECK_EQUAL(file.page_size(), uint32_t(page_size));
      CHECK_EQUAL(file.pages_present(), file.page_count());
      for (const unsigned threads : {1U, 3U}) {
        const TableData data = read(file, {text("b"), i64("a"), i64("c")}, threads);
        CHECK_EQUAL(integers(data, 1), tall.values);
        CHECK_EQUAL(texts(data, 0), tall.long_texts);
        CHECK_EQUAL(integers(data, 2).back(), -tall.values.back());  // behind the overflow
        CHECK_EQUAL(integers(read(file, {i64("a")}, threads), 0), tall.values);
      }
    }
  }
}

void test_shares() {
  const Tall tall(512);
  const MemoryFile memory(tall.bytes);
  const PageFile file(memory.path());
  const TableDef table = read_schema(file, false).at(0);
  const TableRows rows = locate_rows(file, table, 2);
  CHECK_EQUAL(count_table_rows(table, rows, false), uint64_t{tall.values.size()});
  Integers joined;
  for (size_t i = 0; i < 5; ++i) {
    const TableData share = read_table(file, table, rows, {i64("a")}, {i, 5}, 2, false);
    for (const int64_t value : integers(share, 0)) joined.push_back(value);
  }
  CHECK_EQUAL(joined, tall.values);
}

// Changes bytes of a good file; expects TraceCorrupt, and the rows before it when salvaging.
void expect_damage(const Tall& tall, const std::string& bytes, const std::string& reason,
                   unsigned threads = 1) {
  const MemoryFile memory(bytes);
  const PageFile file(memory.path());
  const std::vector<AskedColumn> asked = {i64("a"), text("b"), i64("c")};
  uint64_t recovered = 0;
  try {
    read(file, asked, threads);
    CHECK(!"damage is noticed");
  } catch (const Corrupt& error) {
    CHECK_EQUAL(error.damage.reason, reason);
    CHECK_EQUAL(error.table, std::string("t"));
    CHECK(error.damage.page > 1);
    recovered = error.rows_recovered;
  }
  const TableData data = read(file, asked, threads, true);
  CHECK_EQUAL(data.rows, recovered);
  CHECK_EQUAL(data.damage.reason, reason);
  const auto rows = static_cast<std::ptrdiff_t>(data.rows);
  CHECK_EQUAL(integers(data, 0), Integers(tall.values.begin(), tall.values.begin() + rows));
  CHECK_EQUAL(texts(data, 1),
              std::vector<std::string>(tall.long_texts.begin(), tall.long_texts.begin() + rows));
  CHECK_EQUAL(data.columns[2].null_count, uint64_t{0});
}

void test_damage() {
  const Tall tall(512);
  const auto at = [](uint32_t page, size_t offset) { return (page - 1) * 512 + offset; };
  const auto word = [&](const std::string& bytes, size_t offset) {
    return load16(reinterpret_cast<const uint8_t*>(bytes.data()) + offset);
  };
  const auto pointer = [&](const std::string& bytes, size_t offset) {
    return load32(reinterpret_cast<const uint8_t*>(bytes.data()) + offset);
  };

  std::string bytes = tall.bytes;
  bytes[at(tall.root, 0)] = 0x0A;  // an index leaf
  expect_damage(tall, bytes, "not a table page");

  bytes = tall.bytes;  // the right-most child points at the root: a cycle
  bytes.replace(at(tall.root, 8), 4, big_endian(tall.root, 4));
  expect_damage(tall, bytes, "page " + std::to_string(tall.root) + " twice");

  bytes = tall.bytes;
  bytes.replace(at(tall.root, 8), 4, big_endian(1'000'000, 4));
  expect_damage(tall, bytes, "pointer to page 1000000 of " + std::to_string(tall.db.page_count()));

  bytes = tall.bytes;
  bytes.replace(at(tall.root, 3), 2, big_endian(5'000, 2));
  expect_damage(tall, bytes, "more cells than fit the page");

  // The second leaf: the first child but one of the left-most interior page.
  uint32_t interior = tall.root;
  uint32_t leaf = 0;
  for (uint32_t next = interior; tall.bytes[at(next, 0)] == 0x05;) {
    interior = next;
    next = pointer(tall.bytes, at(next, word(tall.bytes, at(next, 12))));
    leaf = pointer(tall.bytes, at(interior, word(tall.bytes, at(interior, 14))));
  }
  CHECK_EQUAL(int{tall.bytes[at(leaf, 0)]}, 0x0D);
  const size_t second_cell = word(tall.bytes, at(leaf, 10));

  bytes = tall.bytes;
  bytes[at(leaf, 0)] = 0x05;
  expect_damage(tall, bytes, "a leaf page of the table was expected here");

  bytes = tall.bytes;
  bytes.replace(at(leaf, 10), 2, big_endian(600, 2));
  expect_damage(tall, bytes, "cell pointer outside the page");

  bytes = tall.bytes;
  bytes[at(leaf, second_cell + 2)] = 0x7F;
  expect_damage(tall, bytes, "record header longer than the record");

  bytes = tall.bytes;
  bytes[at(leaf, second_cell + 5)] = 10;  // the type of the last column, after others were read
  expect_damage(tall, bytes, "reserved serial type");

  bytes = tall.bytes;
  bytes[at(leaf, second_cell + 4)] = 0x7F;  // the text's length
  expect_damage(tall, bytes, "value longer than the record");
  expect_damage(tall, bytes, "value longer than the record", 4);

  for (const size_t size : {tall.bytes.size() / 2, tall.bytes.size() / 3 + 100}) {
    const MemoryFile memory(tall.bytes.substr(0, size));
    const PageFile file(memory.path());
    CHECK(file.pages_present() < file.page_count());
    CHECK_THROWS(read(file, {i64("a")}), Corrupt);
  }
}

void test_overflow_damage() {
  SampleDb db;
  const std::string big(5'000, 'x');
  db.add_table("t", "CREATE TABLE t(a INTEGER, b TEXT)", {{int64_t{1}, big}, {int64_t{2}, big}});
  std::string bytes = db.bytes();
  const MemoryFile memory(bytes);
  const auto reason = [&] {
    const PageFile file(memory.path());
    // The other column is local: the chain is not looked at for it.
    CHECK_EQUAL(integers(read(file, {i64("a")}), 0), (Integers{1, 2}));
    return read(file, {text("b")}, 1, true).damage.reason;
  };
  CHECK_EQUAL(reason(), std::string());
  const std::string good = bytes;
  bytes.replace(3 * 512, 4, big_endian(0, 4));  // the chain ends two pages early
  memory.write(bytes);
  CHECK_EQUAL(reason(), std::string("overflow page outside the file"));
  bytes = good;
  for (size_t page = 1; page < bytes.size() / 512; ++page) {  // every page leads to page 2
    if (bytes[page * 512] == 0) bytes.replace(page * 512, 4, big_endian(2, 4));
  }
  memory.write(bytes);
  CHECK_EQUAL(reason(), std::string());  // as long as it should be, whatever its bytes are
}

void test_headers() {
  SampleDb db;
  db.add_table("t", "CREATE TABLE t(a)", {{int64_t{1}}});
  const std::string good = db.bytes();
  const auto open = [](const std::string& bytes) {
    const MemoryFile memory(bytes);
    return PageFile(memory.path()).page_count();
  };
  CHECK_EQUAL(open(good), 2U);
  std::string stale = good;  // written by a version that does not keep the page count
  stale[27] = 9;
  stale[31] = 77;
  CHECK_EQUAL(open(stale), 2U);
  for (const size_t offset : {size_t{0}, size_t{16}, size_t{17}}) {
    std::string bad = good;
    bad[offset] = 0x7F;
    CHECK_THROWS(open(bad), NotSqlite);
  }
  CHECK_THROWS(open(""), NotSqlite);
  CHECK_THROWS(open(good.substr(0, 99)), NotSqlite);
  CHECK_THROWS(PageFile("/nonexistent/file"), std::system_error);
  CHECK_THROWS(PageFile("/tmp"), std::system_error);

  const MemoryFile memory(good);
  const PageFile file(memory.path());
  CHECK(file.unchanged());
  std::string newer = good;
  newer[27] = 8;
  memory.write(newer);
  CHECK(!file.unchanged());
}

}  // namespace

int main() {
  test_serial_types();
  test_conversions();
  test_short_records();
  test_trees();
  test_shares();
  test_damage();
  test_overflow_damage();
  test_headers();
  return report();
}
