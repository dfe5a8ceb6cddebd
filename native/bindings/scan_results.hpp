#pragma once
#include <pybind11/pybind11.h>

#include <string>

#include "scan/table.hpp"

namespace dctx {

// Columns of one table, as Python gets them.
struct ScanResult {
  scan::TableData data;

  const scan::ReadColumn& column(const std::string& name) const {
    for (const scan::ReadColumn& column : data.columns) {
      if (column.name == name) return column;
    }
    throw pybind11::key_error(name);
  }
};

void bind_scan_results(pybind11::module_& m);

}  // namespace dctx
