#include "scan/trace_event/json_repair.hpp"

#include <cstdint>
#include <vector>

#include "common/utf8.hpp"
#include "scan/trace_event/lexer.hpp"

namespace dctx::trace_event {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The four hexadecimal digits at the text's start, -1 when they are not there.
int code_unit(std::string_view text) {
  if (text.size() < 4) return -1;
  int value = 0;
  for (size_t i = 0; i < 4; ++i) {
    const int digit = hex_digit(text[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

void append_code_point(int code, std::string& out) {
  const auto add = [&out](int byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  }
}

// Behind "\u"; returns the bytes used.
size_t append_unicode_escape(std::string_view rest, std::string& out, bool& bad) {
  const int unit = code_unit(rest);
  const auto replace = [&](size_t used) {
    out += kReplacement;
    bad = true;
    return used;
  };
  if (unit < 0) {  // damaged: what there is of the digits goes with it
    size_t used = 0;
    while (used < 4 && used < rest.size() && hex_digit(rest[used]) >= 0) ++used;
    return replace(used);
  }
  if (unit == 0) return replace(4);
  if (unit < 0xD800 || unit > 0xDFFF) {
    append_code_point(unit, out);
    return 4;
  }
  if (unit >= 0xDC00 || rest.size() < 10 || rest[4] != '\\' || rest[5] != 'u') return replace(4);
  const int low = code_unit(rest.substr(6));
  if (low < 0xDC00 || low > 0xDFFF) return replace(4);
  append_code_point(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), out);
  return 10;
}

void append_quoted(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<uint8_t>(c) < 0x20) {
      out += "\\u00";
      out.push_back(kHex[c >> 4 & 0xF]);
      out.push_back(kHex[c & 0xF]);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

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
      append_quoted(text, out_);
      out_.push_back(':');
      levels_.back().after_key = true;
    } else {
      begin_value();
      append_quoted(text, out_);
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
  bool bad = false;
  std::string bytes;
  bytes.reserve(body.size());
  for (size_t i = 0; i < body.size();) {
    const char c = body[i];
    if (c == '\0') {
      bytes += kReplacement;
      bad = true;
      ++i;
      continue;
    }
    if (c != '\\' || i + 1 == body.size()) {
      bytes.push_back(c);
      ++i;
      continue;
    }
    i += 2;
    switch (body[i - 1]) {
      case '"':
      case '\\':
      case '/':
        bytes.push_back(body[i - 1]);
        break;
      case 'b':
        bytes.push_back('\b');
        break;
      case 'f':
        bytes.push_back('\f');
        break;
      case 'n':
        bytes.push_back('\n');
        break;
      case 'r':
        bytes.push_back('\r');
        break;
      case 't':
        bytes.push_back('\t');
        break;
      case 'u':
        i += append_unicode_escape(body.substr(i), bytes, bad);
        break;
      default:  // a lone backslash
        bytes.push_back('\\');
        --i;
        break;
    }
  }
  std::vector<char> sound;
  append_utf8(bytes, sound);
  const std::string_view text(sound.data(), sound.size());
  if (text != bytes) bad = true;
  out.assign(text);
  return bad;
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
