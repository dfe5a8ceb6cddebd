// EventScanner and EventScan: trace-event JSON in pieces to tables of columns.
#include <pybind11/stl.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/numpy.hpp"
#include "scan/trace_event/event_stream.hpp"
#include "tree/string_pool.hpp"

namespace dctx {
namespace {

namespace py = pybind11;
using namespace trace_event;

py::str to_python(const std::string& text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

// A contiguous buffer of a Python object, held while its bytes are read.
class Bytes {
 public:
  explicit Bytes(const py::object& object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw py::error_already_set();
  }
  ~Bytes() { PyBuffer_Release(&view_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  const char* data() const { return static_cast<const char*>(view_.buf); }
  size_t size() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

// What a finished scan found. Tables are handed out once.
class EventScan {
 public:
  explicit EventScan(std::unique_ptr<EventStream> stream) : stream_(std::move(stream)) {
    for (Table* const table : router().tables().all())
      tables_.emplace(table->name, Entry{table, false});
  }

  std::vector<std::string> tables() {
    std::vector<std::string> names;
    for (Table* const table : router().tables().all()) names.emplace_back(table->name);
    return names;
  }
  size_t rows(const std::string& name) { return find(name).table->rows; }

  py::dict take(const std::string& name) {
    Entry& entry = find(name);
    if (entry.taken) throw py::key_error("table " + name + " has been taken");
    entry.taken = true;
    py::dict columns;
    for (const auto& [column_name, column] : entry.table->columns()) {
      columns[column_name] = array(*column, entry.table->rows);
    }
    return columns;
  }

  Router& router() { return stream_->router(); }
  EventStream& stream() { return *stream_; }

 private:
  struct Entry {
    Table* table;
    bool taken;
  };

  Entry& find(const std::string& name) {
    const auto found = tables_.find(name);
    if (found == tables_.end()) throw py::key_error("no table " + name);
    return found->second;
  }

  static py::array array(AnyColumn& column, size_t rows) {
    switch (column.type()) {
      case ColumnType::U8:
        return typed<uint8_t>(column, rows);
      case ColumnType::I32:
        return typed<int32_t>(column, rows);
      case ColumnType::I64:
        return typed<int64_t>(column, rows);
      case ColumnType::F64:
        return typed<double>(column, rows);
    }
    throw std::logic_error("no such type of column");
  }

  template <class T>
  static py::array typed(AnyColumn& column, size_t rows) {
    std::shared_ptr<void> values = column.take();
    if (values != nullptr) {
      return array_view<T>(values, static_cast<const T*>(values.get()), rows);
    }
    // No row has a value: one NULL stands for all.
    auto null = std::make_shared<const T>(static_cast<Column<T>&>(column).null());
    const T* const data = null.get();
    auto all = array_view<T>(std::move(null), data, 1);
    return py::module_::import("numpy").attr("broadcast_to")(all, py::make_tuple(rows));
  }

  std::unique_ptr<EventStream> stream_;
  std::map<std::string, Entry> tables_;
};

class EventScanner {
 public:
  EventScanner(py::object strings, const Limits& limits)
      : strings_(std::move(strings)),
        pool_(&strings_.cast<StringPool&>()),
        stream_(std::make_unique<EventStream>(limits)) {}

  void feed(const py::object& data) {
    const Bytes bytes(data);
    const py::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    stream().feed(bytes.data(), bytes.size());
  }

  std::unique_ptr<EventScan> finish() {
    std::unique_ptr<EventStream> stream_done;
    {
      const py::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      stream().finish();
      stream_->router().finish([this](std::string_view text) { return pool_->intern(text); });
      bytes_read_ = stream_->bytes_read();
      events_ = stream_->router().events();
      stream_done = std::move(stream_);
    }
    return std::make_unique<EventScan>(std::move(stream_done));
  }

  uint64_t bytes_read() {
    const py::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    return stream_ ? stream_->bytes_read() : bytes_read_;
  }
  uint64_t events() {
    const py::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    return stream_ ? stream_->router().events() : events_;
  }

 private:
  EventStream& stream() {
    if (!stream_) throw std::runtime_error("the scan is finished");
    return *stream_;
  }

  py::object strings_;  // keeps the pool
  StringPool* pool_;
  std::mutex mutex_;
  std::unique_ptr<EventStream> stream_;
  uint64_t bytes_read_ = 0;
  uint64_t events_ = 0;
};

py::dict counts(const std::map<std::string, uint64_t>& by_text) {
  py::dict out;
  for (const auto& [text, count] : by_text) out[to_python(text)] = count;
  return out;
}

py::dict report(EventScan& scan) {
  py::dict out;
  for (size_t i = 0; i < kReasons; ++i) {
    const ScanReport::Entry& entry = scan.router().report()[static_cast<Reason>(i)];
    if (entry.count == 0) continue;
    py::tuple offsets(entry.offsets.size());
    for (size_t k = 0; k < entry.offsets.size(); ++k) offsets[k] = entry.offsets[k];
    out[kReasonNames[i]] = py::make_tuple(entry.count, offsets);
  }
  return out;
}

py::dict metadata(EventScan& scan) {
  py::dict out;
  for (const auto& [key, json] : scan.stream().metadata()) {
    out[to_python(key)] = json ? py::object(to_python(*json)) : py::object(py::none());
  }
  return out;
}

const char* layout(EventScan& scan) {
  static constexpr const char* kNames[] = {"none", "object", "list", "lines"};
  return kNames[static_cast<size_t>(scan.stream().layout())];
}

}  // namespace

void bind_trace_events(py::module_& m) {
  py::class_<EventScan>(m, "EventScan", py::is_final())
      .def("tables", &EventScan::tables)
      .def("rows", &EventScan::rows, py::arg("table"))
      .def("take", &EventScan::take, py::arg("table"))
      .def_property_readonly("metadata", &metadata)
      .def_property_readonly("layout", &layout)
      .def_property_readonly("events", [](EventScan& s) { return s.router().events(); })
      .def_property_readonly("phases", [](EventScan& s) { return counts(s.router().phases()); })
      .def_property_readonly("categories",
                             [](EventScan& s) { return counts(s.router().categories()); })
      .def_property_readonly("flows_dropped",
                             [](EventScan& s) { return counts(s.router().flows_dropped()); })
      .def_property_readonly("report", &report)
      .def_property_readonly("ts_fraction", [](EventScan& s) { return s.router().ts_fraction(); });
  py::class_<EventScanner>(m, "EventScanner", py::is_final())
      .def(py::init([](py::object strings, size_t max_texts, size_t max_text_bytes,
                       size_t max_event_bytes, size_t max_depth) {
             Limits limits;
             limits.max_texts = max_texts;
             limits.max_text_bytes = max_text_bytes;
             limits.max_event_bytes = max_event_bytes;
             limits.max_depth = max_depth;
             return std::make_unique<EventScanner>(std::move(strings), limits);
           }),
           py::arg("strings"), py::kw_only(), py::arg("max_texts") = Limits().max_texts,
           py::arg("max_text_bytes") = Limits().max_text_bytes,
           py::arg("max_event_bytes") = Limits().max_event_bytes,
           py::arg("max_depth") = Limits().max_depth)
      .def("feed", &EventScanner::feed, py::arg("data"))
      .def("finish", &EventScanner::finish)
      .def_property_readonly("bytes_read", &EventScanner::bytes_read)
      .def_property_readonly("events", &EventScanner::events);
}

}  // namespace dctx
