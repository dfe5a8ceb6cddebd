#include "scan/schema.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "scan/sql_tokens.hpp"

namespace dctx::scan {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool contains(std::string_view text, std::string_view word) {
  for (size_t i = 0; i + word.size() <= text.size(); ++i) {
    if (same_name(text.substr(i, word.size()), word)) return true;
  }
  return false;
}

enum class Affinity { Integer, Text, Blob, Real, Numeric };

// https://www.sqlite.org/datatype3.html section 3.1, in its order of precedence.
Affinity affinity_of(std::string_view type) {
  if (contains(type, "INT")) return Affinity::Integer;
  if (contains(type, "CHAR") || contains(type, "CLOB") || contains(type, "TEXT")) {
    return Affinity::Text;
  }
  if (type.empty() || contains(type, "BLOB")) return Affinity::Blob;
  if (contains(type, "REAL") || contains(type, "FLOA") || contains(type, "DOUB")) {
    return Affinity::Real;
  }
  return Affinity::Numeric;
}

Value with_affinity(Value value, Affinity affinity) {
  if (affinity == Affinity::Text) {
    if (const auto* integer = std::get_if<int64_t>(&value)) value = std::to_string(*integer);
    return value;
  }
  if (affinity == Affinity::Blob) return value;
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (const auto integer = parse_integer(*text)) {
      value = *integer;
    } else if (const auto real = parse_real(*text)) {
      value = *real;
    }
  }
  if (affinity == Affinity::Real) {
    if (const auto* integer = std::get_if<int64_t>(&value)) value = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    const auto integer = truncate(*real);
    if (integer && static_cast<double>(*integer) == *real) value = *integer;
  }
  return value;
}

std::optional<std::string> unhex(std::string_view digits) {
  std::string bytes;
  int high = -1;
  for (const char c : digits) {
    const char l = lower(c);
    int nibble;
    if (l >= '0' && l <= '9') {
      nibble = l - '0';
    } else if (l >= 'a' && l <= 'f') {
      nibble = l - 'a' + 10;
    } else {
      return std::nullopt;
    }
    if (high < 0) {
      high = nibble;
    } else {
      bytes += static_cast<char>(high * 16 + nibble);
      high = -1;
    }
  }
  if (high >= 0) return std::nullopt;
  return bytes;
}

class Parser {
 public:
  Parser(std::string_view sql, TableDef& table)
      : sql_(sql), tokens_(tokenize(sql)), table_(table) {}

  // Empty when the statement was understood, else why the page reader cannot read the table.
  std::string run() {
    if (!word("CREATE")) return kNotUnderstood;
    if (word("VIRTUAL")) return "it is a virtual table";
    if (!word("TEMP")) word("TEMPORARY");
    if (!word("TABLE")) return kNotUnderstood;
    if (word("IF")) pos_ += 2;  // NOT EXISTS
    ++pos_;                     // the name
    if (symbol('.')) ++pos_;
    if (!symbol('(')) return kNotUnderstood;
    while (!done() && !at_symbol(')')) {
      if (at_table_constraint()) {
        table_constraint();
      } else if (tokens_[pos_].is_name()) {
        column();
      } else {
        return kNotUnderstood;
      }
      symbol(',');
    }
    if (!symbol(')') || table_.columns.empty()) return kNotUnderstood;
    for (; !done(); ++pos_) {
      if (at_word("WITHOUT")) return "it is a WITHOUT ROWID table";
    }
    return reason_;
  }

 private:
  static constexpr const char* kNotUnderstood = "its CREATE TABLE statement is not understood";

  bool done() const { return pos_ >= tokens_.size(); }
  bool at_symbol(char c) const { return !done() && tokens_[pos_].is_symbol(c); }
  bool at_word(std::string_view keyword) const { return !done() && tokens_[pos_].is_word(keyword); }
  bool at_any(std::initializer_list<std::string_view> keywords) const {
    return std::any_of(keywords.begin(), keywords.end(),
                       [&](std::string_view keyword) { return at_word(keyword); });
  }
  bool symbol(char c) {
    const bool here = at_symbol(c);
    if (here) ++pos_;
    return here;
  }
  bool word(std::string_view keyword) {
    const bool here = at_word(keyword);
    if (here) ++pos_;
    return here;
  }

  bool at_table_constraint() const {
    return at_any({"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"});
  }
  bool at_column_constraint() const {
    return at_any({"CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE",
                   "REFERENCES", "AS"}) ||
           (at_word("GENERATED") && pos_ + 1 < tokens_.size() &&
            tokens_[pos_ + 1].is_word("ALWAYS"));
  }
  bool at_item_end() const { return done() || at_symbol(',') || at_symbol(')'); }

  void skip_parentheses() {
    if (!symbol('(')) return;
    for (int depth = 1; !done() && depth > 0; ++pos_) {
      if (at_symbol('(')) ++depth;
      if (at_symbol(')')) --depth;
    }
  }
  void skip_one() {
    if (at_symbol('(')) {
      skip_parentheses();
    } else if (!done()) {
      ++pos_;
    }
  }

  void column() {
    ColumnDef column;
    column.name = tokens_[pos_++].text;
    const size_t type_begin = pos_;
    while (!at_item_end() && !at_column_constraint()) skip_one();
    if (pos_ > type_begin) {
      const size_t begin = tokens_[type_begin].begin;
      column.declared_type = sql_.substr(begin, tokens_[pos_ - 1].end - begin);
    }
    while (!at_item_end()) column_constraint(column);
    table_.columns.push_back(std::move(column));
  }

  void column_constraint(ColumnDef& column) {
    if (word("PRIMARY")) {
      word("KEY");
      // Only this spelling of a descending key makes an ordinary column of it (SQLite keeps
      // that quirk for old files).
      const bool descending = word("DESC");
      column.is_rowid_alias = !descending && same_name(column.declared_type, "INTEGER");
    } else if (word("DEFAULT")) {
      default_value(column);
    } else if (word("GENERATED")) {
      word("ALWAYS");
    } else if (word("AS")) {
      skip_parentheses();
      if (!word("STORED")) reason_ = "it has a virtual generated column";
    } else {
      skip_one();
    }
  }

  void default_value(ColumnDef& column) {
    int parentheses = 0;
    while (symbol('(')) ++parentheses;
    const bool expression = parentheses > 0;
    const bool negative = at_symbol('-');
    const bool sign = negative || at_symbol('+');
    if (sign) ++pos_;
    const Affinity affinity = affinity_of(column.declared_type);
    const bool constant = !done() && literal(tokens_[pos_], sign, negative, affinity, column);
    if (!done() && !at_item_end()) ++pos_;
    while (parentheses > 0 && symbol(')')) --parentheses;
    if (constant && parentheses == 0) return;
    if (expression || !constant) {
      reason_ = "column " + column.name + " has an expression as its default";
    }
    for (; !done() && parentheses > 0; ++pos_) {
      if (at_symbol('(')) ++parentheses;
      if (at_symbol(')')) --parentheses;
    }
  }

  // False for what only SQLite itself can tell, by an expression or by a rule that its versions
  // do not agree on.
  static bool literal(const Token& token, bool sign, bool negative, Affinity affinity,
                      ColumnDef& column) {
    Value value;
    switch (token.kind) {
      case TokenKind::Number:
        if (!number(token.text, negative, value)) return false;
        if (affinity == Affinity::Text && std::holds_alternative<double>(value)) {
          if (negative) return false;
          value.emplace<std::string>(token.text);
        }
        break;
      case TokenKind::String:
      case TokenKind::QuotedName:
        value.emplace<std::string>(token.text);
        break;
      case TokenKind::BlobLiteral: {
        auto bytes = unhex(token.text);
        if (!bytes) return false;
        value.emplace<Blob>(Blob{std::move(*bytes)});
        break;
      }
      case TokenKind::Word:
        if (token.is_word("TRUE") || token.is_word("FALSE")) {
          if (affinity == Affinity::Text) return false;
          value.emplace<int64_t>(token.is_word("TRUE") ? 1 : 0);
        } else if (!token.is_word("NULL")) {
          // A bare identifier is taken as its text. CURRENT_TIME and the like cannot be the
          // default of an added column, so no row lacks them.
          value.emplace<std::string>(token.text);
        }
        break;
      case TokenKind::Symbol:
        return false;
    }
    if (sign && token.kind != TokenKind::Number) return false;
    column.default_value = with_affinity(std::move(value), affinity);
    return true;
  }

  static bool number(const std::string& digits, bool negative, Value& out) {
    if (digits.size() > 2 && lower(digits[1]) == 'x') {
      if (digits.size() > 18) return false;
      uint64_t bits = 0;
      for (const char c : digits.substr(2)) {
        const char l = lower(c);
        if (!((l >= '0' && l <= '9') || (l >= 'a' && l <= 'f'))) return false;
        bits = bits * 16 + static_cast<uint64_t>(l <= '9' ? l - '0' : l - 'a' + 10);
      }
      out.emplace<int64_t>(static_cast<int64_t>(negative ? 0 - bits : bits));
      return true;
    }
    const std::string text = (negative ? "-" : "") + digits;
    if (const auto integer = parse_integer(text)) {
      out.emplace<int64_t>(*integer);
      return true;
    }
    const auto real = parse_real(text);
    if (real) out.emplace<double>(*real);
    return real.has_value();
  }

  void table_constraint() {
    if (word("CONSTRAINT")) ++pos_;  // its name
    if (word("PRIMARY")) {
      word("KEY");
      primary_key();
      return;
    }
    // To the end of this constraint; SQLite lets the comma between two of them be left out.
    skip_one();
    while (!at_item_end() && !at_table_constraint()) skip_one();
  }

  void primary_key() {
    if (!symbol('(')) return;
    if (!done() && tokens_[pos_].is_name()) {
      const int index = table_.find(tokens_[pos_].text);
      ++pos_;
      bool single = true;
      for (int depth = 0; !done() && !(depth == 0 && at_symbol(')')); ++pos_) {
        if (at_symbol(',') && depth == 0) single = false;
        if (at_symbol('(')) ++depth;
        if (at_symbol(')')) --depth;
      }
      symbol(')');
      if (single && index >= 0) {
        ColumnDef& column = table_.columns[static_cast<size_t>(index)];
        column.is_rowid_alias = same_name(column.declared_type, "INTEGER");
      }
    }
    while (!at_item_end() && !at_table_constraint()) skip_one();
  }

  std::string_view sql_;
  std::vector<Token> tokens_;
  TableDef& table_;
  size_t pos_ = 0;
  std::string reason_;
};

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

int TableDef::find(std::string_view column) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (same_name(columns[i].name, column)) return static_cast<int>(i);
  }
  return -1;
}

void parse_create_table(std::string_view sql, TableDef& table) {
  table.columns.clear();
  table.unreadable = Parser(sql, table).run();
}

}  // namespace dctx::scan
