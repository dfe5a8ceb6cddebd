#include "tree/name_words.hpp"

#include <algorithm>
#include <array>
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

bool is_any_kernel(const std::string& word) {
  return std::find(kOfAnyKernel.begin(), kOfAnyKernel.end(), word) != kOfAnyKernel.end();
}

// Takes out the words of which `idle` is true, unless there are no others.
template <class Idle>
void keep_telling(std::vector<std::string>& words, Idle&& idle) {
  const auto end = std::remove_if(words.begin(), words.end(), idle);
  if (end != words.begin()) words.erase(end, words.end());
}

}  // namespace

NameWords::Part NameWords::part(std::string_view text, NodeKind kind) {
  std::vector<std::string> words = split(last_part(text));
  Part found;
  found.backward = std::find(words.begin(), words.end(), "backward") != words.end();
  if (kind == NodeKind::Kernel) keep_telling(words, is_any_kernel);
  keep_telling(words, [](const std::string& w) { return w == "backward" || w == "forward"; });
  for (const std::string& word : words) {
    const auto next = static_cast<uint32_t>(ids_.size());
    found.words.push_back(ids_.try_emplace(word, next).first->second);
  }
  return found;
}

const NameWords::Words& NameWords::of(int32_t name) {
  Words& found = names_words_[name];
  if (found.known) return found;
  found.known = true;
  const std::string_view text = std::string_view((*names_.text)[name]).substr(0, kLongest);
  const auto kind = static_cast<NodeKind>(names_.kind[name]);
  const size_t at = kind == NodeKind::Kernel ? text.find(' ') : std::string_view::npos;
  found.has_work = at != std::string_view::npos;
  found.name = part(text.substr(0, at), kind);
  if (found.has_work) found.work = part(text.substr(at + 1), kind);
  return found;
}

// Length of the longest common subsequence, over the mean length.
double NameWords::in_common(const Part& a, const Part& b) {
  if (a.backward != b.backward) return 0;
  if (a.words.empty() && b.words.empty()) return 1;
  row_.assign(b.words.size() + 1, 0);
  for (const uint32_t word : a.words) {
    size_t diagonal = 0;
    for (size_t j = 0; j < b.words.size(); ++j) {
      const size_t above = row_[j + 1];
      row_[j + 1] = word == b.words[j] ? diagonal + 1 : std::max(above, row_[j]);
      diagonal = above;
    }
  }
  return 2.0 * static_cast<double>(row_.back()) /
         static_cast<double>(a.words.size() + b.words.size());
}

double NameWords::operator()(int32_t a, int32_t b) {
  if (a == b) return 1;
  const Words &left = of(a), &right = of(b);
  if (left.has_work != right.has_work) return 0;
  const double names = in_common(left.name, right.name);
  return left.has_work ? std::min(names, in_common(left.work, right.work)) : names;
}

}  // namespace dctx
