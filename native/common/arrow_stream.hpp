#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/arrow_abi.hpp"
#include "common/text.hpp"

namespace dctx {

enum class ColumnType { I8, I16, I32, I64, U8, U16, U32, F64, Bool, Text };

struct StreamColumn {
  std::string name;
  ColumnType type = ColumnType::I64;
  // Aligned, one element a row, or what `index` picks from; unused for texts.
  const void* values = nullptr;
  // For each row the place of its value, -1 for NULL.
  const int32_t* index = nullptr;
  // The values count up from here, in the order of delivery (I32 without `values`).
  int32_t first = 0;
  std::shared_ptr<const TextData> texts;
  // Keep `values` and `index` alive; may be released on any thread.
  std::shared_ptr<const void> owner;
  std::shared_ptr<const void> index_owner;
  std::optional<int64_t> null;  // this value stands for NULL (as does a NaN)
};

// A table to be read through the Arrow C stream interface.
struct StreamTable {
  std::vector<StreamColumn> columns;
  size_t rows = 0;                  // rows delivered
  const uint32_t* order = nullptr;  // row numbers, `rows` of them; nullptr: as they lie
  std::shared_ptr<const void> order_owner;
};

// Rows in one batch: DuckDB's row group, so that a batch fills one.
constexpr size_t kBatchRows = 122'880;

// Both fill `out`, which the caller releases. Every batch keeps the table alive until it is
// released itself.
void export_schema(const StreamTable& table, ArrowSchema* out);
void export_stream(std::shared_ptr<const StreamTable> table, ArrowArrayStream* out);

}  // namespace dctx
