#include "scan/schema.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "scan/default_value.hpp"
#include "scan/sql_tokens.hpp"

namespace dctx::scan {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

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
    const bool constant = !done() && read_default(tokens_[pos_], sign, negative,
                                                  column.declared_type, column.default_value);
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
