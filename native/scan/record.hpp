#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/text.hpp"
#include "scan/btree.hpp"
#include "scan/page_file.hpp"
#include "scan/value.hpp"

namespace dctx::scan {

// Hex: the stored bytes of a text or blob as hexadecimal digits, since texts must be UTF-8.
enum class ColumnKind : uint8_t { I64, I32, F64, Text, Hex };

constexpr bool holds_text(ColumnKind kind) {
  return kind == ColumnKind::Text || kind == ColumnKind::Hex;
}

// What to do with one column of the stored record.
struct Field {
  bool wanted = false;
  ColumnKind kind = ColumnKind::I64;
  uint32_t slot = 0;    // which of the asked columns
  void* out = nullptr;  // the whole output column; unused for texts
  int64_t null_integer = 0;
  double null_real = 0;
  Value default_value;  // of records that end before this column
};

// The rowid itself is asked for.
struct RowidField {
  ColumnKind kind = ColumnKind::I64;
  uint32_t slot = 0;
  void* out = nullptr;
};

// The record's columns up to the last one asked for.
struct RecordPlan {
  std::vector<Field> fields;
  std::vector<RowidField> rowids;
  uint32_t slots = 0;
};

// Reads single pages, some of the following ones with them: the pages of an overflow chain mostly
// follow each other.
class OverflowReader {
 public:
  explicit OverflowReader(const PageFile& file) : file_(file) {}
  // The page's bytes, valid until the next call; nullptr when it cannot be read.
  const uint8_t* page(uint32_t number);

 private:
  const PageFile& file_;
  std::vector<uint8_t> window_;
  uint32_t first_ = 0;
  uint32_t count_ = 0;
};

// Decodes the rows of one contiguous part of a table into the output columns.
class RecordDecoder {
 public:
  // Bytes that must be readable behind a page handed to leaf().
  static constexpr size_t kSlack = 8;

  RecordDecoder(const PageFile& file, const RecordPlan& plan);

  // Decodes `rows` rows of the leaf into output rows from `first_row` on. False when the page is
  // damaged: see damage() and rows_done().
  bool leaf(uint32_t page, const uint8_t* bytes, uint64_t first_row, uint64_t rows);

  uint64_t rows_done() const { return rows_done_; }
  const Damage& damage() const { return damage_; }
  uint64_t converted() const { return converted_; }
  const std::vector<uint64_t>& null_counts() const { return nulls_; }
  // One per slot; empty for columns that hold no text.
  std::vector<TextData>& texts() { return texts_; }

 private:
  struct Payload {
    const uint8_t* begin;
    const uint8_t* end;
  };

  struct Mark;
  Mark mark() const;
  void rewind(const Mark& to);

  const char* cell(const uint8_t* page, uint32_t offset, uint64_t row, uint32_t& used);
  const char* gather(const uint8_t* local, uint64_t local_size, uint64_t size, const uint8_t* chain,
                     Payload& out);
  uint64_t bytes_needed(const uint8_t* local, uint64_t local_size, uint64_t size) const;
  const char* record(Payload payload, uint64_t row);
  void integer(const Field& field, int64_t value, uint64_t row);
  void real(const Field& field, double value, uint64_t row);
  void text(const Field& field, const uint8_t* bytes, size_t size, bool blob, uint64_t row);
  void null(const Field& field, uint64_t row);
  void missing(const Field& field, uint64_t row);

  const PageFile& file_;
  const RecordPlan& plan_;
  OverflowReader overflow_;
  std::vector<uint8_t> scratch_;
  uint64_t overflow_pages_left_;
  uint64_t rows_done_ = 0;
  uint64_t converted_ = 0;
  std::vector<uint64_t> nulls_;
  std::vector<TextData> texts_;
  Damage damage_;
};

}  // namespace dctx::scan
