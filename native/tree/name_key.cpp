#include "tree/name_key.hpp"

#include <array>

namespace dctx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
bool is_hex(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }

constexpr std::array<std::string_view, 7> kCounted = {"layer", "block",  "iter", "step",
                                                      "batch", "expert", "rank"};

bool ends_with_counted_word(std::string_view text) {
  for (const std::string_view word : kCounted) {
    if (text.size() < word.size()) continue;
    const std::string_view tail = text.substr(text.size() - word.size());
    bool equal = true;
    for (size_t i = 0; i < word.size(); ++i) equal = equal && lower(tail[i]) == word[i];
    if (equal) return true;
  }
  return false;
}

size_t skip_digits(std::string_view text, size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

void append_mark(std::string& out) {
  if (out.empty() || out.back() != '#') out.push_back('#');
}

}  // namespace

void name_key(std::string_view text, std::string& out) {
  out.clear();
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '#') {
      append_mark(out);
      ++i;
      continue;
    }
    if (!is_digit(c)) {
      out.push_back(c);
      ++i;
      continue;
    }
    // A digit run starts here: the character before it, if any, is no digit.
    const bool after_letter = i > 0 && is_letter(text[i - 1]);
    const bool address = !after_letter && c == '0' && i + 2 < text.size() &&
                         lower(text[i + 1]) == 'x' && is_hex(text[i + 2]);
    size_t end = skip_digits(text, i);
    if (address) {
      end = i + 2;
      while (end < text.size() && is_hex(text[end])) ++end;
    }
    if (after_letter && !ends_with_counted_word(out)) {
      out.append(text.substr(i, end - i));
    } else {
      append_mark(out);
    }
    i = end;
  }
}

}  // namespace dctx
