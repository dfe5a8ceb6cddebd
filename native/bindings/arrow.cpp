// ColumnStream: columns of numpy arrays and texts as an Arrow C stream.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/numpy.hpp"
#include "bindings/text_object.hpp"
#include "common/arrow_stream.hpp"
#include "tree/string_pool.hpp"

namespace py = pybind11;

namespace dctx {
namespace {

using Nulls = std::map<std::string, int64_t>;
using Order = py::array_t<uint32_t, py::array::c_style>;

ColumnType type_of(const py::array& array, const std::string& name) {
  const py::dtype dtype = array.dtype();
  const bool native = dtype.byteorder() == '=' || dtype.byteorder() == '|';
  const auto size = dtype.itemsize();
  if (native && dtype.kind() == 'i') {
    if (size == 1) return ColumnType::I8;
    if (size == 2) return ColumnType::I16;
    if (size == 4) return ColumnType::I32;
    if (size == 8) return ColumnType::I64;
  } else if (native && dtype.kind() == 'u') {
    if (size == 1) return ColumnType::U8;
    if (size == 2) return ColumnType::U16;
    if (size == 4) return ColumnType::U32;
  } else if (native && dtype.kind() == 'f' && size == 8) {
    return ColumnType::F64;
  } else if (dtype.kind() == 'b') {
    return ColumnType::Bool;
  }
  throw py::type_error("column " + name + ": arrays of " + std::string(py::str(dtype)) +
                       " cannot be streamed");
}

std::shared_ptr<const TextData> texts_of(py::handle value) {
  if (py::isinstance<TextColumn>(value)) return value.cast<const TextColumn&>().data;
  if (py::isinstance<StringPool>(value)) return value.cast<const StringPool&>().texts();
  return nullptr;
}

py::array plain_array(const std::string& name, py::handle value) {
  if (!py::isinstance<py::array>(value)) {
    throw py::type_error("column " + name +
                         ": expected a numpy array, (values, index), range, TextColumn or "
                         "StringPool");
  }
  // A copy only where the array is strided or not aligned.
  constexpr int kPlain = py::array::c_style | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  const auto array = py::array::ensure(value, kPlain);
  if (!array) throw py::error_already_set();
  if (array.ndim() != 1) throw py::value_error("column " + name + ": expected one dimension");
  return array;
}

// (values, index): row i has the value values[index[i]].
size_t make_picked(StreamColumn& column, const py::tuple& pair) {
  if (pair.size() != 2) throw py::value_error("column " + column.name + ": expected a pair");
  const py::array values = plain_array(column.name, pair[0]);
  const py::array index = plain_array(column.name, pair[1]);
  column.type = type_of(values, column.name);
  if (type_of(index, column.name) != ColumnType::I32 || column.type == ColumnType::Bool ||
      column.type == ColumnType::F64) {
    throw py::type_error("column " + column.name + ": integers picked by int32 places only");
  }
  const auto size = static_cast<size_t>(values.size());
  const auto rows = static_cast<size_t>(index.size());
  const auto* places = static_cast<const int32_t*>(index.data());
  if (rows > 0) {
    const auto [least, most] = std::minmax_element(places, places + rows);
    if (*least < -1 || (*most >= 0 && static_cast<size_t>(*most) >= size)) {
      throw py::index_error("column " + column.name + ": a place is not in the values");
    }
  }
  static const int64_t kNothing = 0;  // without values every place is -1
  column.values = size > 0 ? values.data() : &kNothing;
  column.index = places;
  column.owner = share_object(values);
  column.index_owner = share_object(index);
  return rows;
}

// range(first, last): delivered in order, whatever the order of the other columns.
size_t make_count(StreamColumn& column, py::handle range) {
  const auto first = range.attr("start").cast<int64_t>();
  const auto rows = py::len(range);
  if (range.attr("step").cast<int64_t>() != 1 || first < std::numeric_limits<int32_t>::min() ||
      first + static_cast<int64_t>(rows) - 1 > std::numeric_limits<int32_t>::max()) {
    throw py::value_error("column " + column.name + ": expected a range of int32 with step 1");
  }
  column.type = ColumnType::I32;
  column.first = static_cast<int32_t>(first);
  return rows;
}

// The column, and how many rows it has.
std::pair<StreamColumn, size_t> make_column(const std::string& name, py::handle value,
                                            const Nulls& nulls) {
  StreamColumn column;
  column.name = name;
  const auto null = nulls.find(name);
  if (null != nulls.end()) column.null = null->second;
  if (auto texts = texts_of(value)) {
    if (column.null) throw py::type_error("column " + name + ": texts have no null value");
    column.type = ColumnType::Text;
    const size_t rows = texts->size();
    column.texts = std::move(texts);
    return {std::move(column), rows};
  }
  if (PyRange_Check(value.ptr())) {
    if (column.null) throw py::type_error("column " + name + ": a range has no null value");
    const size_t rows = make_count(column, value);
    return {std::move(column), rows};
  }
  if (py::isinstance<py::tuple>(value)) {
    const size_t rows = make_picked(column, py::reinterpret_borrow<py::tuple>(value));
    return {std::move(column), rows};
  }
  const py::array array = plain_array(name, value);
  static const int64_t kNothing = 0;
  column.type = type_of(array, name);
  column.values = array.size() > 0 ? array.data() : &kNothing;
  const auto rows = static_cast<size_t>(array.size());
  column.owner = share_object(array);
  return {std::move(column), rows};
}

void set_order(StreamTable& table, const Order& order) {
  if (order.ndim() != 1) throw py::value_error("order: expected one dimension");
  const auto size = static_cast<size_t>(order.size());
  const uint32_t* rows = order.data();
  const uint32_t* largest = std::max_element(rows, rows + size);
  if (size > 0 && *largest >= table.rows) {
    throw py::index_error("order: row " + std::to_string(*largest) + " of " +
                          std::to_string(table.rows));
  }
  table.order = rows;
  table.order_owner = share_object(order);
  table.rows = size;
}

struct ColumnStream {
  std::shared_ptr<const StreamTable> table;
};

ColumnStream make_stream(const py::dict& columns, const std::optional<Order>& order,
                         const std::optional<Nulls>& nulls) {
  auto table = std::make_shared<StreamTable>();
  for (const auto& [name, value] : columns) {
    auto [column, rows] = make_column(name.cast<std::string>(), value, nulls.value_or(Nulls()));
    if (!table->columns.empty() && rows != table->rows) {
      throw py::value_error("column " + column.name + " has " + std::to_string(rows) +
                            " rows, those before it " + std::to_string(table->rows));
    }
    table->rows = rows;
    table->columns.push_back(std::move(column));
  }
  if (table->columns.empty()) throw py::value_error("a stream needs a column");
  if (nulls) {
    for (const auto& [name, value] : *nulls) {
      if (!columns.contains(name)) throw py::key_error(name);
    }
  }
  if (order) set_order(*table, *order);
  return {std::move(table)};
}

// A capsule as the Arrow PyCapsule interface wants it: whoever consumes the structure moves it
// out and leaves `release` empty, else the capsule releases it.
template <typename Struct>
py::capsule arrow_capsule(std::unique_ptr<Struct> filled, const char* name) {
  PyObject* capsule = PyCapsule_New(filled.get(), name, [](PyObject* self) {
    auto* pointer = static_cast<Struct*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
    if (pointer->release != nullptr) pointer->release(pointer);
    delete pointer;
  });
  if (capsule == nullptr) {
    filled->release(filled.get());
    throw py::error_already_set();
  }
  filled.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

py::capsule stream_capsule(const ColumnStream& self, const py::object& /*requested_schema*/) {
  auto stream = std::make_unique<ArrowArrayStream>();
  export_stream(self.table, stream.get());
  return arrow_capsule(std::move(stream), "arrow_array_stream");
}

py::capsule schema_capsule(const ColumnStream& self) {
  auto schema = std::make_unique<ArrowSchema>();
  export_schema(*self.table, schema.get());
  return arrow_capsule(std::move(schema), "arrow_schema");
}

}  // namespace

void bind_arrow(py::module_& m) {
  py::class_<ColumnStream>(m, "ColumnStream", py::is_final())
      .def(py::init(&make_stream), py::arg("columns"), py::kw_only(), py::arg("order") = py::none(),
           py::arg("nulls") = py::none())
      .def("__len__", [](const ColumnStream& self) { return self.table->rows; })
      .def("__arrow_c_stream__", &stream_capsule, py::arg("requested_schema") = py::none())
      .def("__arrow_c_schema__", &schema_capsule);
}

}  // namespace dctx
