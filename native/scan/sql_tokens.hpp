#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dctx::scan {

enum class TokenKind { Word, QuotedName, String, BlobLiteral, Number, Symbol };

struct Token {
  TokenKind kind;
  std::string text;  // without quotes; words as written
  size_t begin;      // place in the statement
  size_t end;

  bool is_symbol(char c) const { return kind == TokenKind::Symbol && text[0] == c; }
  // An unquoted word equal to `keyword` (given in capitals), whatever its case.
  bool is_word(std::string_view keyword) const;
  bool is_name() const { return kind != TokenKind::Number && kind != TokenKind::Symbol; }
};

// Splits an SQL statement; comments and blanks go. An unclosed quote or comment ends the list.
std::vector<Token> tokenize(std::string_view sql);

}  // namespace dctx::scan
