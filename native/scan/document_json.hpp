#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scan/document_rows.hpp"

namespace dctx::scan {

// Reads JSON in pieces of any size and tells its parts to DocumentRows. Memory: the longest single
// string. Commas may be missing or too many, bytes in strings may be anything; bare words (NaN,
// Infinity) are NULL. At other damage it stops: see error().
class JsonDocument {
 public:
  static constexpr size_t kLongestText = 64U << 20;
  static constexpr size_t kDeepest = 100'000;

  explicit JsonDocument(DocumentRows& rows) : rows_(rows) {}

  void feed(std::string_view bytes);
  // The document is over: error() tells if it was cut.
  void finish();
  // Empty: none.
  const std::string& error() const { return error_; }

 private:
  size_t parse(std::string_view text, bool last);
  size_t string_end(std::string_view text, size_t begin, bool& escaped) const;
  void string(std::string_view raw, bool escaped);
  void word(std::string_view text);
  bool may_take_value();
  void scalar(const Scalar& value);
  void begin(bool array, size_t at);
  void end(bool array, size_t at);
  void fail(size_t at, const std::string& what);

  enum class Expect : uint8_t { Key, Colon, Value };

  DocumentRows& rows_;
  std::vector<char> carried_;  // a string or word that the next piece completes
  uint64_t passed_ = 0;        // bytes before the piece being parsed
  Expect expect_ = Expect::Value;
  std::string error_;
};

}  // namespace dctx::scan
