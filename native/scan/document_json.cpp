#include "scan/document_json.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

#include "scan/json_text.hpp"
#include "scan/value.hpp"

namespace dctx::scan {
namespace {

bool in_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-' || c == '+' || c == '_';
}

Scalar number(std::string_view text) {
  Scalar out;
  out.text = text;
  const char* const end = text.data() + text.size();
  const auto whole = std::from_chars(text.data(), end, out.integer);
  if (whole.ptr == end && whole.ec == std::errc()) {
    out.kind = Scalar::Kind::Integer;
    out.real = static_cast<double>(out.integer);
    return out;
  }
  uint64_t wide = 0;
  const auto unsigned_whole = std::from_chars(text.data(), end, wide);
  if (unsigned_whole.ptr == end && unsigned_whole.ec == std::errc()) {
    out.kind = Scalar::Kind::Integer;
    out.integer = static_cast<int64_t>(wide);
    out.real = static_cast<double>(wide);
    return out;
  }
  const std::optional<double> real = parse_real(text);
  if (real && std::isfinite(*real)) {
    out.kind = Scalar::Kind::Real;
    out.real = *real;
  }
  return out;
}

}  // namespace

void JsonDocument::feed(std::string_view bytes) {
  if (!error_.empty()) return;
  if (carried_.empty()) {
    const size_t used = parse(bytes, false);
    passed_ += used;
    carried_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(used), bytes.end());
  } else {
    carried_.insert(carried_.end(), bytes.begin(), bytes.end());
    const size_t used = parse({carried_.data(), carried_.size()}, false);
    passed_ += used;
    carried_.erase(carried_.begin(), carried_.begin() + static_cast<std::ptrdiff_t>(used));
  }
  if (error_.empty() && carried_.size() > kLongestText) fail(0, "a text longer than 64 MiB");
}

void JsonDocument::finish() {
  if (!error_.empty()) return;
  const size_t used = parse({carried_.data(), carried_.size()}, true);
  if (!error_.empty()) return;
  if (used < carried_.size() || rows_.depth() > 0) fail(carried_.size(), "the file ends here");
}

size_t JsonDocument::parse(std::string_view text, bool last) {
  size_t i = 0;
  while (i < text.size() && error_.empty()) {
    const char c = text[i];
    switch (c) {
      case ' ':
      case '\n':
      case '\r':
      case '\t':
      case ',':
        ++i;
        break;
      case ':':
        if (expect_ != Expect::Colon) {
          fail(i, "a colon that follows no key");
        } else {
          expect_ = Expect::Value;
          ++i;
        }
        break;
      case '{':
      case '[':
        begin(c == '[', i++);
        break;
      case '}':
      case ']':
        end(c == ']', i++);
        break;
      case '"': {
        bool escaped = false;
        const size_t close = string_end(text, i + 1, escaped);
        if (close == std::string_view::npos) return i;
        if (expect_ == Expect::Colon) {
          fail(i, "a key that no colon follows");
        } else {
          string(text.substr(i + 1, close - i - 1), escaped);
          i = close + 1;
        }
        break;
      }
      default: {
        size_t stop = i;
        while (stop < text.size() && in_word(text[stop])) ++stop;
        if (stop == text.size() && !last) return i;
        if (stop == i && passed_ + i == 0 && text.size() >= 3 &&
            text.substr(0, 3) == "\xEF\xBB\xBF") {
          i = 3;  // a byte order mark
        } else if (stop == i || !may_take_value()) {
          if (stop == i && !last && passed_ + i == 0 && text.size() < 3) return i;
          fail(i, "something that is no JSON");
        } else {
          word(text.substr(i, stop - i));
          i = stop;
        }
      }
    }
  }
  return i;
}

size_t JsonDocument::string_end(std::string_view text, size_t begin, bool& escaped) const {
  size_t from = begin;
  while (from < text.size()) {
    const void* const found = std::memchr(text.data() + from, '"', text.size() - from);
    if (found == nullptr) return std::string_view::npos;
    const auto at = static_cast<size_t>(static_cast<const char*>(found) - text.data());
    size_t slashes = 0;
    while (at - slashes > begin && text[at - slashes - 1] == '\\') ++slashes;
    if (slashes % 2 == 0) {
      escaped = std::memchr(text.data() + begin, '\\', at - begin) != nullptr;
      return at;
    }
    from = at + 1;
  }
  return std::string_view::npos;
}

bool JsonDocument::may_take_value() { return expect_ == Expect::Value; }

void JsonDocument::string(std::string_view raw, bool escaped) {
  if (expect_ == Expect::Key) {
    if (escaped) {
      rows_.key(unescape(raw));
    } else {
      rows_.key(raw);
    }
    expect_ = Expect::Colon;
    return;
  }
  Scalar value;
  value.kind = Scalar::Kind::Text;
  value.text = raw;
  value.escaped = escaped;
  scalar(value);
}

void JsonDocument::word(std::string_view text) {
  Scalar value;
  if (text == "true" || text == "false") {
    value.kind = Scalar::Kind::Integer;
    value.integer = text == "true" ? 1 : 0;
    value.real = static_cast<double>(value.integer);
    value.text = text;
  } else if (text != "null") {
    value = number(text);
  }
  scalar(value);
}

void JsonDocument::scalar(const Scalar& value) {
  rows_.value(value);
  expect_ = rows_.depth() == 0 || rows_.in_array() ? Expect::Value : Expect::Key;
}

void JsonDocument::begin(bool array, size_t at) {
  if (expect_ != Expect::Value) return fail(at, "a value that has no key");
  if (rows_.depth() >= kDeepest) return fail(at, "more than 100,000 values inside each other");
  rows_.open(array);
  expect_ = array ? Expect::Value : Expect::Key;
}

void JsonDocument::end(bool array, size_t at) {
  // A key without its value ("k": }) is let pass.
  if (rows_.depth() == 0 || rows_.in_array() != array)
    return fail(at, "a bracket that closes none");
  rows_.close();
  expect_ = rows_.depth() == 0 || rows_.in_array() ? Expect::Value : Expect::Key;
}

void JsonDocument::fail(size_t at, const std::string& what) {
  error_ = "byte " + std::to_string(passed_ + at) + ": " + what;
}

}  // namespace dctx::scan
