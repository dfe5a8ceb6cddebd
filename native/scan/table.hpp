#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/buffer.hpp"
#include "common/text.hpp"
#include "scan/btree.hpp"
#include "scan/page_file.hpp"
#include "scan/record.hpp"
#include "scan/schema.hpp"

namespace dctx::scan {

struct AskedColumn {
  std::string name;
  ColumnKind kind;
  std::optional<int64_t> null;  // what NULL becomes; not for texts
};

struct ReadColumn {
  std::string name;
  ColumnKind kind = ColumnKind::I64;
  std::shared_ptr<const Buffer> values;  // null for a text column
  std::shared_ptr<const TextData> texts;
  uint64_t null_count = 0;
};

struct TableData {
  uint64_t rows = 0;
  std::vector<ReadColumn> columns;
  uint64_t converted = 0;
  Damage damage;
};

// Where the rows of a table are: leaf i holds rows [first_row[i], first_row[i + 1]).
struct TableRows {
  LeafList leaves;
  std::vector<uint64_t> first_row;
};

// Throws std::invalid_argument for a table the page reader cannot read. threads 0: one a processor.
TableRows locate_rows(const PageFile& file, const TableDef& table, unsigned threads);

// Share `index` of `count` contiguous shares of the leaf pages.
struct Share {
  size_t index = 0;
  size_t count = 1;
};

// Decodes the asked columns of a share in rowid order, each thread a contiguous part of it.
// Throws Corrupt on damage, unless `salvage`: then everything before the damage comes back, and
// later shares mean nothing. Throws std::out_of_range for a column the table lacks,
// std::invalid_argument for a column asked for twice.
TableData read_table(const PageFile& file, const TableDef& table, const TableRows& rows,
                     const std::vector<AskedColumn>& asked, Share share, unsigned threads,
                     bool salvage);

// Rows of the table; throws Corrupt unless `salvage`.
uint64_t count_table_rows(const TableDef& table, const TableRows& rows, bool salvage);

// The tables of the file, in schema order, without indexes, views and triggers.
std::vector<TableDef> read_schema(const PageFile& file, bool salvage);

}  // namespace dctx::scan
