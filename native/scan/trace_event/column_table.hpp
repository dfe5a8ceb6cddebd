#pragma once
// A table of columns by name.
#include <cstddef>
#include <utility>
#include <vector>

#include "scan/trace_event/column.hpp"

namespace dctx::trace_event {

class Table {
 public:
  explicit Table(const char* table_name) : name(table_name) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const char* const name;
  size_t rows = 0;
  const std::vector<std::pair<const char*, AnyColumn*>>& columns() const { return columns_; }

 protected:
  void add(const char* column_name, AnyColumn& column) {
    columns_.emplace_back(column_name, &column);
  }

 private:
  std::vector<std::pair<const char*, AnyColumn*>> columns_;
};

}  // namespace dctx::trace_event
