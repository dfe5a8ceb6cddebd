// StringPool and name keys.
#include "bindings/text_object.hpp"
#include "bindings/tree_arrays.hpp"
#include "bindings/tree_parts.hpp"
#include "tree/name_key.hpp"
#include "tree/string_pool.hpp"

namespace dctx {
namespace {

py::str to_python(const std::string& text) {
  PyObject* decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

std::string text_at(const StringPool& pool, py::ssize_t index) {
  const auto size = static_cast<py::ssize_t>(pool.size());
  if (index < 0) index += size;
  if (index < 0 || index >= size) throw py::index_error("no such string");
  return pool.text(static_cast<size_t>(index));
}

py::array_t<int32_t> intern_column(StringPool& pool, const TextColumn& column) {
  const std::shared_ptr<const TextData> texts = column.data;
  return to_array(without_gil([&] { return pool.intern_column(*texts); }));
}

py::array_t<int32_t> intern_rows(StringPool& pool, const TextColumn& column,
                                 const py::array& rows) {
  const std::shared_ptr<const TextData> texts = column.data;
  const Input<int64_t> in(rows, "rows");
  return to_array(without_gil([&] { return pool.intern_rows(*texts, in.data(), in.size()); }));
}

py::array_t<int32_t> name_keys(StringPool& pool, const py::array& ids) {
  const Input<int32_t> in(ids, "ids");
  return to_array(without_gil([&] { return pool.name_keys(in.data(), in.size()); }));
}

}  // namespace

void bind_strings(py::module_& m) {
  py::class_<StringPool>(m, "StringPool", py::is_final())
      .def(py::init<>())
      .def("__len__", &StringPool::size)
      .def("__getitem__", [](const StringPool& pool,
                             py::ssize_t index) { return to_python(text_at(pool, index)); })
      .def("intern", &StringPool::intern, py::arg("text"))
      .def("intern_column", &intern_column, py::arg("column"))
      .def("intern_rows", &intern_rows, py::arg("column"), py::arg("rows"))
      .def("name_keys", &name_keys, py::arg("ids"));
  m.def(
      "name_key",
      [](std::string_view text) {
        std::string key;
        name_key(text, key);
        return to_python(key);
      },
      py::arg("text"));
}

}  // namespace dctx
