#include "tree/name_words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace dctx {
namespace {

constexpr size_t kLongest = 256;  // of names: the arguments of templates may go on for kilobytes
constexpr std::array<std::string_view, 8> kOfAnyKernel = {"kernel", "functor", "op",   "ops",
                                                          "impl",   "nocast",  "cuda", "hip"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_word(char c) { return is_digit(c) || is_upper(c) || is_lower(c); }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// fooBar and HTTPServer: a word starts at B and at S.
bool starts_word(std::string_view text, size_t at) {
  if (at == 0 || !is_upper(text[at])) return false;
  const bool lower_next = at + 1 < text.size() && is_lower(text[at + 1]);
  return !is_upper(text[at - 1]) || lower_next;
}

std::string_view last_part(std::string_view text) {
  for (const std::string_view mark : {"::", ": "}) {
    const size_t at = text.rfind(mark);
    if (at != std::string_view::npos && at + mark.size() < text.size()) {
      text.remove_prefix(at + mark.size());
    }
  }
  return text;
}

void add(std::string& word, std::vector<std::string>& words) {
  while (!word.empty() && is_digit(word.back())) word.pop_back();
  if (word == "fwd") word = "forward";
  if (word == "bwd") word = "backward";
  if (!word.empty()) words.push_back(std::move(word));
  word.clear();
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_word(text[i]) || starts_word(text, i)) add(word, words);
    if (is_word(text[i])) word.push_back(lower(text[i]));
  }
  add(word, words);
  return words;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Length of the longest common subsequence, over the mean length.
double in_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.empty() && b.empty()) return 1;
  std::vector<size_t> row(b.size() + 1, 0);
  for (const std::string& word : a) {
    size_t diagonal = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = word == b[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return 2.0 * static_cast<double>(row.back()) / static_cast<double>(a.size() + b.size());
}

double of_parts(std::string_view a, std::string_view b, NodeKind kind) {
  std::vector<std::string> left = name_words(a, kind), right = name_words(b, kind);
  if (has(left, "backward") != has(right, "backward")) return 0;
  for (std::vector<std::string>* words : {&left, &right}) {
    const auto direction = [](const std::string& w) { return w == "backward" || w == "forward"; };
    const auto end = std::remove_if(words->begin(), words->end(), direction);
    if (end != words->begin()) words->erase(end, words->end());
  }
  return in_common(left, right);
}

std::pair<std::string_view, std::string_view> at_space(std::string_view text) {
  const size_t at = text.find(' ');
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace

std::vector<std::string> name_words(std::string_view name, NodeKind kind) {
  std::vector<std::string> words = split(last_part(name));
  if (kind != NodeKind::Kernel) return words;
  std::vector<std::string> telling;
  for (const std::string& word : words) {
    const auto* end = kOfAnyKernel.end();
    if (std::find(kOfAnyKernel.begin(), end, word) == end) telling.push_back(word);
  }
  return telling.empty() ? words : telling;
}

double words_in_common(std::string_view a, std::string_view b, NodeKind kind) {
  a = a.substr(0, kLongest);
  b = b.substr(0, kLongest);
  if (kind != NodeKind::Kernel) return of_parts(a, b, kind);
  const auto [name, work] = at_space(a);
  const auto [other, other_work] = at_space(b);
  if (work.empty() != other_work.empty()) return 0;
  const double names = of_parts(name, other, kind);
  return work.empty() ? names : std::min(names, of_parts(work, other_work, kind));
}

}  // namespace dctx
