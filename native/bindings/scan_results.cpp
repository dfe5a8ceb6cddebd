// What SqliteFile hands out: columns of one table, and texts.
#include "bindings/scan_results.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/numpy.hpp"
#include "bindings/text_object.hpp"

namespace py = pybind11;

namespace dctx {
namespace {

using namespace scan;  // NOLINT: the binding of exactly this part

py::object text_at(const TextColumn& self, py::ssize_t row) {
  const TextData& texts = *self.data;
  const auto size = static_cast<py::ssize_t>(texts.size());
  if (row < 0) row += size;
  if (row < 0 || row >= size) throw py::index_error("row " + std::to_string(row));
  const auto i = static_cast<size_t>(row);
  if (texts.is_null(i)) return py::none();
  const std::string_view text = texts[i];
  return py::str(text.data(), text.size());
}

size_t null_count(const TextColumn& self) {
  size_t count = 0;
  for (const uint8_t valid : self.data->valid) count += valid == 0 ? 1 : 0;
  return count;
}

TextColumn from_list(const py::sequence& texts) {
  auto data = std::make_shared<TextData>();
  for (const py::handle item : texts) {
    if (item.is_none()) {
      data->push_null();
      continue;
    }
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
    if (text == nullptr) throw py::error_already_set();
    data->push_back({text, static_cast<size_t>(size)});
  }
  return {std::move(data)};
}

std::vector<std::string> names(const ScanResult& self) {
  std::vector<std::string> out;
  for (const ReadColumn& column : self.data.columns) out.push_back(column.name);
  return out;
}

py::array array_of(const ScanResult& self, const std::string& name) {
  const ReadColumn& column = self.column(name);
  const size_t rows = self.data.rows;
  const auto view = [&](auto example) -> py::array {
    using T = decltype(example);
    return array_view<T>(column.values, static_cast<const T*>(column.values->data()), rows);
  };
  switch (column.kind) {
    case ColumnKind::I64:
      return view(int64_t{});
    case ColumnKind::I32:
      return view(int32_t{});
    case ColumnKind::F64:
      return view(double{});
    case ColumnKind::Text:
    case ColumnKind::Hex:
      break;
  }
  throw py::type_error("column " + name + " is a text column");
}

TextColumn text_of(const ScanResult& self, const std::string& name) {
  const ReadColumn& column = self.column(name);
  if (!holds_text(column.kind)) throw py::type_error("column " + name + " holds no texts");
  return {column.texts};
}

std::optional<std::string> damaged(const ScanResult& self) {
  const Damage& damage = self.data.damage;
  if (!damage) return std::nullopt;
  return "page " + std::to_string(damage.page) + ", offset " + std::to_string(damage.offset) +
         ": " + damage.reason;
}

}  // namespace

void bind_scan_results(py::module_& m) {
  py::class_<TextColumn>(m, "TextColumn", py::is_final())
      .def_property_readonly("null_count", &null_count)
      .def("__len__", [](const TextColumn& self) { return self.data->size(); })
      .def("__getitem__", &text_at, py::arg("row"))
      .def_static("from_list", &from_list, py::arg("texts"));
  py::class_<ScanResult>(m, "ScanResult", py::is_final())
      .def_property_readonly("rows", [](const ScanResult& self) { return self.data.rows; })
      .def_property_readonly("damaged", &damaged)
      .def_property_readonly("converted",
                             [](const ScanResult& self) { return self.data.converted; })
      .def("names", &names)
      .def("array", &array_of, py::arg("name"))
      .def("text", &text_of, py::arg("name"))
      .def(
          "null_count",
          [](const ScanResult& self, const std::string& name) {
            return self.column(name).null_count;
          },
          py::arg("name"));
}

}  // namespace dctx
