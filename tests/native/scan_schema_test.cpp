// CREATE TABLE statements as SQLite files keep them.
#include <string>
#include <vector>

#include "check.hpp"
#include "scan/schema.hpp"
#include "scan/sql_tokens.hpp"

using namespace dctx::scan;

namespace {

TableDef parsed(const std::string& sql) {
  TableDef table;
  parse_create_table(sql, table);
  return table;
}

std::vector<std::string> names(const TableDef& table) {
  std::vector<std::string> out;
  for (const ColumnDef& column : table.columns) out.push_back(column.name);
  return out;
}

std::string alias(const TableDef& table) {
  std::string out;
  for (const ColumnDef& column : table.columns) {
    if (column.is_rowid_alias) out += column.name;
  }
  return out;
}

using Names = std::vector<std::string>;

void test_columns() {
  const TableDef commented = parsed(R"(CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    start INTEGER NOT NULL,   -- Event start timestamp (ns), see PRIMARY KEY, REFERENCES
    "end" INTEGER NOT NULL,   /* a comma, a ) and
                                 an 'apostrophe */
    [shortName] VARCHAR(10, 2) COLLATE NOCASE REFERENCES StringIds(id, value),
    `dim x` UNSIGNED BIG INT DEFAULT (-1) CHECK ("dim x" > 0),
    plain,
    'quoted as text' TEXT,
    CONSTRAINT key PRIMARY KEY (start, "end"),
    FOREIGN KEY (plain) REFERENCES other(a, b) ON DELETE CASCADE
  ))");
  CHECK_EQUAL(commented.unreadable, std::string());
  CHECK_EQUAL(names(commented),
              (Names{"start", "end", "shortName", "dim x", "plain", "quoted as text"}));
  CHECK_EQUAL(commented.columns[2].declared_type, std::string("VARCHAR(10, 2)"));
  CHECK_EQUAL(commented.columns[3].declared_type, std::string("UNSIGNED BIG INT"));
  CHECK_EQUAL(commented.columns[4].declared_type, std::string());
  CHECK_EQUAL(alias(commented), std::string());
  CHECK_EQUAL(commented.find("SHORTNAME"), 2);
  CHECK_EQUAL(commented.find("missing"), -1);
  CHECK_EQUAL(names(parsed("create temp table if not exists main.\"a \"\"b\" (x, y)")),
              (Names{"x", "y"}));
  // SQLite lets the comma before a constraint be left out.
  CHECK_EQUAL(names(parsed("CREATE TABLE t(a, b, UNIQUE (a) CHECK (b > 0) PRIMARY KEY (b))")),
              (Names{"a", "b"}));
}

void test_rowid_alias() {
  CHECK_EQUAL(alias(parsed("CREATE TABLE t(id INTEGER PRIMARY KEY, v)")), std::string("id"));
  CHECK_EQUAL(alias(parsed("CREATE TABLE t(id integer primary key autoincrement)")),
              std::string("id"));
  CHECK_EQUAL(alias(parsed("CREATE TABLE t(id INTEGER PRIMARY KEY DESC)")), std::string());
  CHECK_EQUAL(alias(parsed("CREATE TABLE t(id INT PRIMARY KEY)")), std::string());
  CHECK_EQUAL(alias(parsed("CREATE TABLE t(id INTEGER(8) PRIMARY KEY)")), std::string());
  CHECK_EQUAL(alias(parsed("CREATE TABLE t(v, id INTEGER, PRIMARY KEY (ID))")), std::string("id"));
  CHECK_EQUAL(alias(parsed("CREATE TABLE t(v, id INTEGER, PRIMARY KEY (id DESC))")),
              std::string("id"));
  CHECK_EQUAL(alias(parsed("CREATE TABLE t(v, id INTEGER, PRIMARY KEY (id, v))")), std::string());
}

void test_defaults() {
  const TableDef table = parsed(
      "CREATE TABLE t(a INTEGER DEFAULT -5, b TEXT DEFAULT 7, c REAL DEFAULT 2, d DEFAULT 'it''s',"
      " e INTEGER DEFAULT '12', f DEFAULT NULL, g INT DEFAULT 0x1F, h BLOB DEFAULT x'00ff',"
      " i INTEGER DEFAULT 1.0, j BOOLEAN DEFAULT TRUE, k NOT NULL DEFAULT +3 UNIQUE, l)");
  CHECK_EQUAL(table.unreadable, std::string());
  CHECK_EQUAL(table.columns.size(), size_t{12});
  const auto value = [&](size_t i) { return table.columns[i].default_value; };
  CHECK(std::get<int64_t>(value(0)) == -5);
  CHECK(std::get<std::string>(value(1)) == "7");
  CHECK(std::get<double>(value(2)) == 2.0);
  CHECK(std::get<std::string>(value(3)) == "it's");
  CHECK(std::get<int64_t>(value(4)) == 12);
  CHECK(std::holds_alternative<std::monostate>(value(5)));
  CHECK(std::get<int64_t>(value(6)) == 31);
  CHECK(std::get<Blob>(value(7)).bytes == std::string("\0\xFF", 2));
  CHECK(std::get<int64_t>(value(8)) == 1);
  CHECK(std::get<int64_t>(value(9)) == 1);
  CHECK(std::get<int64_t>(value(10)) == 3);
  CHECK(std::holds_alternative<std::monostate>(value(11)));
}

void test_unreadable() {
  const auto reason = [](const std::string& sql) { return parsed(sql).unreadable; };
  CHECK(!reason("CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID").empty());
  CHECK(!reason("CREATE TABLE t(a INT PRIMARY KEY) STRICT, without rowid").empty());
  CHECK(reason("CREATE TABLE t(a INT PRIMARY KEY) STRICT").empty());
  CHECK(!reason("CREATE VIRTUAL TABLE t USING fts5(a)").empty());
  CHECK(!reason("CREATE TABLE t(a, b AS (a + 1))").empty());
  CHECK(!reason("CREATE TABLE t(a, b INT GENERATED ALWAYS AS (a + 1) VIRTUAL)").empty());
  CHECK(reason("CREATE TABLE t(a, b INT GENERATED ALWAYS AS (a + 1) STORED)").empty());
  CHECK(!reason("CREATE TABLE t(a DEFAULT (random()))").empty());
  for (const char* sql :
       {"", "CREATE", "CREATE TABLE", "CREATE TABLE t", "CREATE TABLE t(", "CREATE TABLE t()",
        "CREATE TABLE t(a", "CREATE TABLE t(a,, b)", "CREATE TABLE t(a 'unclosed", "DROP TABLE t",
        "CREATE TABLE t(5)", "CREATE TABLE IF"}) {
    CHECK(!reason(sql).empty());
  }
  // A column may be called like a word that is no keyword here.
  CHECK_EQUAL(names(parsed("CREATE TABLE t(generated INT, always, \"primary\" INT)")),
              (Names{"generated", "always", "primary"}));
}

void test_tokens() {
  const auto tokens = tokenize("a-1.5e-3 --x\n'b''c'[d e]X'0a'<>");
  Names texts;
  for (const Token& token : tokens) texts.push_back(token.text);
  CHECK_EQUAL(texts, (Names{"a", "-", "1.5e-3", "b'c", "d e", "0a", "<", ">"}));
  CHECK(tokens[2].kind == TokenKind::Number);
  CHECK(tokens[5].kind == TokenKind::BlobLiteral);
}

}  // namespace

int main() {
  test_columns();
  test_rowid_alias();
  test_defaults();
  test_unreadable();
  test_tokens();
  return dctx_test::report();
}
