#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/text.hpp"
#include "scan/document_plan.hpp"

namespace dctx::scan {

// A value that is neither object nor array.
struct Scalar {
  enum class Kind : uint8_t { Null, Integer, Real, Text };
  Kind kind = Kind::Null;
  int64_t integer = 0;    // an unsigned one beyond int64 keeps its 64 bits
  double real = 0;        // of an Integer too
  std::string_view text;  // as written, of numbers too
  bool escaped = false;   // a text with JSON escapes
};

// Values of one column. NULL: kNullInteger, NaN, size -1.
struct CellColumn {
  static constexpr int64_t kNullInteger = INT64_MIN;
  CellKind kind = CellKind::Integer;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<int64_t> begin;  // of texts, which are stored in the order they are met
  std::vector<int64_t> size;
  std::vector<char> bytes;

  TextData texts() const;
};

struct RowTable {
  std::vector<CellColumn> columns;
  std::vector<int32_t> outer;  // row of the record (of whatever table) around this one, -1: none
  uint64_t rows = 0;
  uint64_t open = 0;  // records that have begun and not ended
};

// Fills the tables of a plan from the parts of a document, told in order. A record gets its row
// when it begins, so that in a tree parents precede children.
class DocumentRows {
 public:
  explicit DocumentRows(const DocumentPlan& plan);

  void open(bool array);
  void close();
  void key(std::string_view text);
  void value(const Scalar& value);

  size_t depth() const { return frames_.size(); }
  bool in_array() const { return frames_.back().array; }
  const RowTable& table(size_t index) const { return tables_[index]; }
  // Texts with bytes that are no UTF-8, each replaced by U+FFFD.
  uint64_t repaired() const { return repaired_; }

 private:
  struct Frame {
    int node;  // -1: nothing asked for in here
    bool array;
    uint64_t elements = 0;
    int table = -1;  // of the record that this container is
    int32_t outer_before = -1;
    int64_t row_before = -1;
  };

  int place();
  int64_t begin_row(int table);
  void set(DocumentPlan::Cell cell, int64_t row, const Scalar& value);
  void set_text(CellColumn& column, size_t row, const Scalar& value);

  const DocumentPlan& plan_;
  std::vector<RowTable> tables_;
  std::vector<int64_t> current_;     // by table: row of its innermost open record
  std::vector<int> key_columns_;     // by table, -1: no column takes the key
  std::vector<uint8_t> of_scalars_;  // by table: a record may be a scalar
  std::vector<Frame> frames_;
  std::string key_;
  int32_t outer_ = -1;
  uint64_t repaired_ = 0;
};

}  // namespace dctx::scan
