#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scan/value.hpp"

namespace dctx::scan {

struct ColumnDef {
  std::string name;
  std::string declared_type;
  bool is_rowid_alias = false;
  // What rows written before ALTER TABLE ADD COLUMN hold, as the column's affinity stores it.
  Value default_value;
};

struct TableDef {
  std::string name;
  std::string sql;
  uint32_t root_page = 0;
  std::vector<ColumnDef> columns;
  // Why the page reader cannot read it; empty when it can.
  std::string unreadable;

  // Index of the column, -1 when there is none. Names compare as in SQL: ASCII case is ignored.
  int find(std::string_view column) const;
};

bool same_name(std::string_view a, std::string_view b);

// Fills columns and unreadable from a CREATE TABLE statement as SQLite keeps it.
void parse_create_table(std::string_view sql, TableDef& table);

}  // namespace dctx::scan
