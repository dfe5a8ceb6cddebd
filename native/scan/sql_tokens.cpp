#include "scan/sql_tokens.hpp"

#include "scan/schema.hpp"

namespace dctx::scan {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

// The text of a quoted token starting at `i`, doubled quotes undone; moves `i` past it.
std::string quoted(std::string_view sql, size_t& i, char close) {
  std::string text;
  for (++i; i < sql.size(); ++i) {
    if (sql[i] == close) {
      const bool doubled = close != ']' && i + 1 < sql.size() && sql[i + 1] == close;
      if (!doubled) {
        ++i;
        return text;
      }
      ++i;
    }
    text += sql[i];
  }
  return text;
}

size_t skip_comment(std::string_view sql, size_t i) {
  const bool line = sql[i] == '-';
  const size_t end = sql.find(line ? "\n" : "*/", i + 2);
  if (end == std::string_view::npos) return sql.size();
  return end + (line ? 1 : 2);
}

bool starts_comment(std::string_view sql, size_t i) {
  const std::string_view two = sql.substr(i, 2);
  return two == "--" || two == "/*";
}

size_t number_end(std::string_view sql, size_t i) {
  if (sql[i] == '0' && i + 1 < sql.size() && (sql[i + 1] == 'x' || sql[i + 1] == 'X')) i += 2;
  while (i < sql.size()) {
    const bool exponent_sign =
        (sql[i] == '+' || sql[i] == '-') && (sql[i - 1] == 'e' || sql[i - 1] == 'E');
    if (!is_word_char(sql[i]) && sql[i] != '.' && !exponent_sign) break;
    ++i;
  }
  return i;
}

}  // namespace

bool Token::is_word(std::string_view keyword) const {
  return kind == TokenKind::Word && same_name(text, keyword);
}

std::vector<Token> tokenize(std::string_view sql) {
  std::vector<Token> tokens;
  size_t i = 0;
  while (i < sql.size()) {
    const char c = sql[i];
    const size_t begin = i;
    if (is_space(c)) {
      ++i;
      continue;
    }
    if (starts_comment(sql, i)) {
      i = skip_comment(sql, i);
      continue;
    }
    std::string text;
    TokenKind kind = TokenKind::Symbol;
    if (c == '\'') {
      kind = TokenKind::String;
      text = quoted(sql, i, '\'');
    } else if (c == '"' || c == '`') {
      kind = TokenKind::QuotedName;
      text = quoted(sql, i, c);
    } else if (c == '[') {
      kind = TokenKind::QuotedName;
      text = quoted(sql, i, ']');
    } else if ((c == 'x' || c == 'X') && i + 1 < sql.size() && sql[i + 1] == '\'') {
      kind = TokenKind::BlobLiteral;
      text = quoted(sql, ++i, '\'');
    } else if (is_digit(c) || (c == '.' && i + 1 < sql.size() && is_digit(sql[i + 1]))) {
      kind = TokenKind::Number;
      i = number_end(sql, i + (c == '.' ? 1 : 0));
      text = sql.substr(begin, i - begin);
    } else if (is_word_char(c)) {
      kind = TokenKind::Word;
      while (i < sql.size() && is_word_char(sql[i])) ++i;
      text = sql.substr(begin, i - begin);
    } else {
      text = c;
      ++i;
    }
    tokens.push_back({kind, std::move(text), begin, i});
  }
  return tokens;
}

}  // namespace dctx::scan
