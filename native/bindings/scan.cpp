// SqliteFile, its schema, and the error of damaged files.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/scan_results.hpp"
#include "scan/table.hpp"

namespace py = pybind11;

namespace dctx {
namespace {

using namespace scan;  // NOLINT: the binding of exactly this part

// ---- SqliteFile

ColumnKind kind_of(const std::string& kind) {
  if (kind == "i64") return ColumnKind::I64;
  if (kind == "i32") return ColumnKind::I32;
  if (kind == "f64") return ColumnKind::F64;
  if (kind == "text") return ColumnKind::Text;
  if (kind == "hex") return ColumnKind::Hex;
  throw py::value_error("column kind " + kind + ": expected i64, i32, f64, text or hex");
}

class SqliteFile {
 public:
  explicit SqliteFile(const std::string& path) : file_(path) {}

  const PageFile& file() const { return file_; }

  std::optional<std::string> needs_library() const {
    if (file_.encoding() != 1) return "its texts are UTF-16";
    if (file_.schema_format() > 4) {
      return "schema format " + std::to_string(file_.schema_format()) + " is not known";
    }
    return std::nullopt;
  }

  std::vector<TableDef> tables(bool salvage) const {
    const py::gil_scoped_release unlocked;
    return read_schema(file_, salvage);
  }

  ScanResult read(const std::string& table, const std::vector<AskedColumn>& asked, Share share,
                  unsigned threads, bool salvage) {
    const py::gil_scoped_release unlocked;
    const TableDef& found = find(table, salvage);
    return {read_table(file_, found, *rows_of(found), asked, share, threads, salvage)};
  }

  uint64_t row_count(const std::string& table, bool salvage) {
    const py::gil_scoped_release unlocked;
    const TableDef& found = find(table, salvage);
    return count_table_rows(found, *rows_of(found), salvage);
  }

 private:
  const TableDef& find(const std::string& name, bool salvage) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!schema_) schema_ = read_schema(file_, salvage);
    for (const TableDef& table : *schema_) {
      if (same_name(table.name, name)) return table;
    }
    throw std::out_of_range(name);
  }

  // Found once: a table is read in several shares, and some of its columns later than others.
  std::shared_ptr<const TableRows> rows_of(const TableDef& table) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<const TableRows>& rows = rows_[table.name];
    if (!rows) rows = std::make_shared<TableRows>(locate_rows(file_, table, 0));
    return rows;
  }

  PageFile file_;
  std::mutex mutex_;
  std::optional<std::vector<TableDef>> schema_;
  std::map<std::string, std::shared_ptr<const TableRows>> rows_;
};

std::unique_ptr<SqliteFile> open_file(const py::object& name) {
  PyObject* encoded = nullptr;  // file names are bytes, not always UTF-8
  if (PyUnicode_FSConverter(name.ptr(), &encoded) == 0) throw py::error_already_set();
  const auto path = py::reinterpret_steal<py::bytes>(encoded).cast<std::string>();
  try {
    return std::make_unique<SqliteFile>(path);
  } catch (const std::system_error& error) {
    errno = error.code().value();
    PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, name.ptr());
    throw py::error_already_set();
  } catch (const NotSqlite& error) {
    throw py::value_error(error.what());
  }
}

std::vector<AskedColumn> asked_columns(
    const std::vector<std::pair<std::string, std::string>>& asked,
    const std::map<std::string, int64_t>& nulls) {
  std::vector<AskedColumn> out;
  for (const auto& [name, kind] : asked) {
    AskedColumn column{name, kind_of(kind), std::nullopt};
    const auto null = nulls.find(name);
    if (null != nulls.end()) {
      if (holds_text(column.kind)) {
        throw py::value_error("column " + name + ": texts have no null value");
      }
      if (column.kind == ColumnKind::I32 && null->second != static_cast<int32_t>(null->second)) {
        throw py::value_error("column " + name + ": the null value does not fit int32");
      }
      column.null = null->second;
    }
    out.push_back(std::move(column));
  }
  return out;
}

void bind_schema(py::module_& m) {
  py::class_<ColumnDef>(m, "SqliteColumn", py::is_final())
      .def_readonly("name", &ColumnDef::name)
      .def_readonly("declared_type", &ColumnDef::declared_type)
      .def_readonly("is_rowid_alias", &ColumnDef::is_rowid_alias);
  py::class_<TableDef>(m, "SqliteTable", py::is_final())
      .def_readonly("name", &TableDef::name)
      .def_readonly("columns", &TableDef::columns)
      .def_readonly("root_page", &TableDef::root_page)
      .def_readonly("sql", &TableDef::sql)
      .def_property_readonly("unreadable", [](const TableDef& self) -> std::optional<std::string> {
        if (self.unreadable.empty()) return std::nullopt;
        return self.unreadable;
      });
}

void bind_file(py::module_& m) {
  py::class_<SqliteFile>(m, "SqliteFile", py::is_final())
      .def(py::init(&open_file), py::arg("path"))
      .def_property_readonly("page_size",
                             [](const SqliteFile& self) { return self.file().page_size(); })
      .def_property_readonly("page_count",
                             [](const SqliteFile& self) { return self.file().page_count(); })
      .def_property_readonly("pages_present",
                             [](const SqliteFile& self) { return self.file().pages_present(); })
      .def_property_readonly("encoding",
                             [](const SqliteFile& self) { return self.file().encoding(); })
      .def_property_readonly("needs_library", &SqliteFile::needs_library)
      .def("tables", &SqliteFile::tables, py::kw_only(), py::arg("salvage") = false)
      .def(
          "read",
          [](SqliteFile& self, const std::string& table,
             const std::vector<std::pair<std::string, std::string>>& columns,
             const std::optional<std::map<std::string, int64_t>>& nulls,
             std::pair<size_t, size_t> share, unsigned threads, bool salvage) {
            const auto asked =
                asked_columns(columns, nulls.value_or(std::map<std::string, int64_t>()));
            if (share.first >= share.second) throw py::value_error("share: no such share");
            try {
              return self.read(table, asked, {share.first, share.second}, threads, salvage);
            } catch (const std::out_of_range& error) {
              throw py::key_error(error.what());
            }
          },
          py::arg("table"), py::arg("columns"), py::kw_only(), py::arg("nulls") = py::none(),
          py::arg("share") = std::pair<size_t, size_t>(0, 1), py::arg("threads") = 0,
          py::arg("salvage") = false)
      .def(
          "row_count",
          [](SqliteFile& self, const std::string& table, bool salvage) {
            try {
              return self.row_count(table, salvage);
            } catch (const std::out_of_range& error) {
              throw py::key_error(error.what());
            }
          },
          py::arg("table"), py::kw_only(), py::arg("salvage") = false)
      .def("unchanged", [](const SqliteFile& self) { return self.file().unchanged(); });
}

}  // namespace

void bind_scan(py::module_& m) {
  // Lives as long as the module, which is never unloaded.
  static PyObject* const corrupt =
      py::exception<Corrupt>(m, "TraceCorrupt", PyExc_Exception).release().ptr();
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const Corrupt& error) {
      const py::tuple args =
          py::make_tuple(error.what(), error.table, error.damage.page, error.damage.offset,
                         error.damage.reason, error.rows_recovered);
      PyErr_SetObject(corrupt, args.ptr());
    }
  });
  bind_scan_results(m);
  bind_schema(m);
  bind_file(m);
}

}  // namespace dctx
