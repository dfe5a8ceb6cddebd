// DocumentReader: chosen records of a JSON or msgpack document, as columns.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/numpy.hpp"
#include "bindings/text_object.hpp"
#include "scan/document_json.hpp"
#include "scan/document_msgpack.hpp"
#include "scan/document_rows.hpp"

namespace py = pybind11;

namespace dctx {
namespace {

using namespace scan;  // NOLINT: the binding of exactly this part

using PyCells = std::vector<std::tuple<std::string, std::string, std::string>>;
using PyTables = std::vector<std::tuple<std::string, std::string, PyCells, std::string>>;

CellKind cell_kind(const std::string& kind) {
  if (kind == "i64") return CellKind::Integer;
  if (kind == "f64") return CellKind::Real;
  if (kind == "text") return CellKind::Text;
  throw py::value_error("column kind " + kind + ": expected i64, f64 or text");
}

std::vector<TableAsk> table_asks(const PyTables& tables) {
  std::vector<TableAsk> out;
  for (const auto& [name, path, cells, again] : tables) {
    TableAsk ask{name, path, {}, again};
    for (const auto& [column, place, kind] : cells) {
      ask.cells.push_back({column, place, cell_kind(kind)});
    }
    out.push_back(std::move(ask));
  }
  return out;
}

// All that reading fills, shared with the arrays that are handed out.
struct Document {
  explicit Document(std::vector<TableAsk> asks) : plan(std::move(asks)), rows(plan), json(rows) {}

  DocumentPlan plan;
  DocumentRows rows;
  JsonDocument json;
};

class DocumentReader {
 public:
  explicit DocumentReader(const PyTables& tables)
      : document_(std::make_shared<Document>(table_asks(tables))) {}

  void feed(std::string_view bytes) {
    check_open();
    const py::gil_scoped_release unlocked;
    document_->json.feed(bytes);
  }

  void finish() {
    check_open();
    document_->json.finish();
    error_ = document_->json.error();
    finished_ = true;
  }

  void read_msgpack(std::string_view bytes) {
    check_open();
    const py::gil_scoped_release unlocked;
    error_ = scan::read_msgpack(bytes, document_->rows);
    finished_ = true;
  }

  std::optional<std::string> error() const {
    if (error_.empty()) return std::nullopt;
    return error_;
  }
  uint64_t repaired() const { return document_->rows.repaired(); }
  uint64_t rows(const std::string& table) const { return find(table).rows; }
  uint64_t open(const std::string& table) const { return find(table).open; }

  py::array outer(const std::string& table) const {
    const std::vector<int32_t>& values = find(table).outer;
    return array_view<int32_t>(document_, values.data(), values.size());
  }

  py::array array(const std::string& table, const std::string& name) const {
    const CellColumn& column = find(table, name);
    switch (column.kind) {
      case CellKind::Integer:
        return array_view<int64_t>(document_, column.integers.data(), column.integers.size());
      case CellKind::Real:
        return array_view<double>(document_, column.reals.data(), column.reals.size());
      case CellKind::Text:
        break;
    }
    throw py::type_error("column " + name + " is a text column");
  }

  TextColumn text(const std::string& table, const std::string& name) const {
    const CellColumn& column = find(table, name);
    if (column.kind != CellKind::Text) throw py::type_error("column " + name + " holds no texts");
    return {std::make_shared<const TextData>(column.texts())};
  }

 private:
  void check_open() const {
    if (finished_) throw py::value_error("the document has been read");
  }

  size_t index(const std::string& table) const {
    if (!finished_) throw py::value_error("the document has not been read");
    const std::vector<TableAsk>& tables = document_->plan.tables();
    for (size_t t = 0; t < tables.size(); ++t) {
      if (tables[t].name == table) return t;
    }
    throw py::key_error(table);
  }

  const RowTable& find(const std::string& table) const {
    return document_->rows.table(index(table));
  }

  const CellColumn& find(const std::string& table, const std::string& name) const {
    const size_t t = index(table);
    const std::vector<CellAsk>& cells = document_->plan.tables()[t].cells;
    for (size_t c = 0; c < cells.size(); ++c) {
      if (cells[c].name == name) return document_->rows.table(t).columns[c];
    }
    throw py::key_error(name);
  }

  std::shared_ptr<Document> document_;
  std::string error_;
  bool finished_ = false;
};

std::string_view view(const py::bytes& bytes) {
  char* data = nullptr;
  py::ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) throw py::error_already_set();
  return {data, static_cast<size_t>(size)};
}

}  // namespace

void bind_document(py::module_& m) {
  py::class_<DocumentReader>(m, "DocumentReader", py::is_final())
      .def(py::init<const PyTables&>(), py::arg("tables"))
      .def(
          "feed", [](DocumentReader& self, const py::bytes& data) { self.feed(view(data)); },
          py::arg("data"))
      .def("finish", &DocumentReader::finish)
      .def(
          "read_msgpack",
          [](DocumentReader& self, const py::bytes& data) { self.read_msgpack(view(data)); },
          py::arg("data"))
      .def_property_readonly("error", &DocumentReader::error)
      .def_property_readonly("repaired", &DocumentReader::repaired)
      .def("rows", &DocumentReader::rows, py::arg("table"))
      .def("open", &DocumentReader::open, py::arg("table"))
      .def("outer", &DocumentReader::outer, py::arg("table"))
      .def("array", &DocumentReader::array, py::arg("table"), py::arg("column"))
      .def("text", &DocumentReader::text, py::arg("table"), py::arg("column"));
}

}  // namespace dctx
