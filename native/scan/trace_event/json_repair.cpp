#include "scan/trace_event/json_repair.hpp"

#include <cstdint>
#include <vector>

#include "common/json_text.hpp"
#include "common/utf8.hpp"
#include "scan/json_text.hpp"
#include "scan/trace_event/lexer.hpp"

namespace dctx::trace_event {
namespace {

bool is_json_number(std::string_view text) {
  size_t i = 0;
  const auto digits = [&] {
    const size_t first = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - first;
  };
  if (i < text.size() && text[i] == '-') ++i;
  const size_t whole = i;
  const size_t count = digits();
  if (count == 0 || (count > 1 && text[whole] == '0')) return false;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0) return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

void append_word(std::string_view word, std::string& out) {
  if (word == "true" || word == "false" || is_json_number(word)) {
    out += word;
  } else {
    out += "null";
  }
}

// Puts values, commas and colons where they belong, whatever order they come in.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void open(char bracket) {
    begin_value();
    out_.push_back(bracket);
    levels_.push_back({bracket == '{', 0, false});
  }
  void close() {
    if (levels_.back().after_key) out_ += "null";
    out_.push_back(levels_.back().object ? '}' : ']');
    levels_.pop_back();
    end_value();
  }
  void string(std::string_view text, bool is_key) {
    if (is_key && in_object() && !levels_.back().after_key) {
      if (levels_.back().items > 0) out_.push_back(',');
      append_json_string(out_, text);
      out_.push_back(':');
      levels_.back().after_key = true;
    } else {
      begin_value();
      append_json_string(out_, text);
      end_value();
    }
  }
  void word(std::string_view text) {
    begin_value();
    append_word(text, out_);
    end_value();
  }
  bool in_object() const { return !levels_.empty() && levels_.back().object; }
  bool nested() const { return !levels_.empty(); }

 private:
  struct Level {
    bool object;
    size_t items;
    bool after_key;
  };

  void begin_value() {
    if (levels_.empty()) return;
    if (levels_.back().object) {
      if (levels_.back().after_key) return;
      if (levels_.back().items > 0) out_.push_back(',');
      out_ += "\"\":";  // a value without a key
    } else if (levels_.back().items > 0) {
      out_.push_back(',');
    }
  }
  void end_value() {
    if (levels_.empty()) return;
    ++levels_.back().items;
    levels_.back().after_key = false;
  }

  std::string& out_;
  std::vector<Level> levels_;
};

}  // namespace

bool unescape(std::string_view body, std::string& out) {
  std::string bytes;
  const bool repaired = scan::append_unescaped(body, bytes);
  std::vector<char> sound;
  append_utf8(bytes, sound);
  const std::string_view text(sound.data(), sound.size());
  const bool ill_formed = text != bytes;
  out.assign(text);
  return repaired || ill_formed;
}

void normalise_json(std::string_view value, std::string& out) {
  out.clear();
  std::string padded(value);
  padded.append(kPadding, '\0');
  const char* p = padded.data();
  const char* const end = p + value.size();
  // Strictly when it can be read so: a look behind each quote is a guess.
  Token whole;
  Lexer<false> strict(end, kPadding);
  const bool lenient = strict.value(p, Within::Object, whole) == nullptr;
  Lexer<true> guess(end, kPadding);
  Writer writer(out);
  std::string text;
  bool expect_key = true;
  while ((p = skip_blanks(p)) < end) {
    const char c = *p;
    if (c == '[' || c == '{') {
      writer.open(c);
      expect_key = true;
      ++p;
    } else if (c == ']' || c == '}') {
      if (writer.nested()) writer.close();
      ++p;
    } else if (c == ',' || c == ':' || c == '\0') {
      expect_key = c == ',';
      ++p;
    } else if (c == '"') {
      const bool is_key = writer.in_object() && expect_key;
      const Within within = is_key               ? Within::Key
                            : writer.in_object() ? Within::Object
                                                 : Within::Array;
      const char* quote = lenient ? guess.string(p, within) : strict.string(p, within);
      if (quote == nullptr) quote = end;
      unescape({p + 1, static_cast<size_t>(quote - p - 1)}, text);
      writer.string(text, is_key);
      p = quote < end ? quote + 1 : end;
    } else {
      const char* const first = p;
      while (p < end && static_cast<uint8_t>(*p) > ' ' && *p != ',' && *p != ':' && *p != '"' &&
             *p != '[' && *p != ']' && *p != '{' && *p != '}') {
        ++p;
      }
      if (p > first) writer.word({first, static_cast<size_t>(p - first)});
    }
    if (!writer.nested() && !out.empty()) break;
  }
  while (writer.nested()) writer.close();
  if (out.empty()) out = "null";
}

}  // namespace dctx::trace_event
