// Live recording: Python functions that are told of events.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <mutex>
#include <vector>

#include "bindings/bindings.hpp"
#include "monitor/engine/listeners.hpp"

namespace dctx {
namespace {

namespace py = pybind11;
using namespace monitor;

int listen(uint32_t domain, uint32_t mask, dctx_event_fn function, void* user) {
  // A listener that runs may wait for the interpreter's lock.
  const py::gil_scoped_release unlocked;
  const int handle = Listeners::instance().add(domain, mask, function, user);
  if (handle == Listeners::kInside) {
    throw std::runtime_error("a listener cannot register another one");
  }
  if (handle < 0) throw std::runtime_error("no more than 16 listeners can be registered");
  return handle;
}

// Its number may be another listener's from then on: it becomes that of none.
void forget(int& handle) {
  const py::gil_scoped_release unlocked;
  if (Listeners::instance().remove(handle) == Listeners::kInside) {
    throw std::runtime_error("a listener cannot unregister itself");
  }
  handle = -1;
}

py::tuple row_of(const dctx_event& event) {
  PyObject* const name = PyUnicode_DecodeUTF8(
      event.name, static_cast<Py_ssize_t>(std::char_traits<char>::length(event.name)), "replace");
  if (name == nullptr) throw py::error_already_set();
  return py::make_tuple(event.event, event.kind, py::reinterpret_steal<py::str>(name), event.depth,
                        event.sequence, event.forward_thread, event.thread, event.time_ns,
                        event.duration_ns, reinterpret_cast<uintptr_t>(event.identity),
                        event.correlation, event.device, event.bytes);
}

// Keeps events until Python takes them; beyond `capacity` they are dropped and counted. Texts of
// events live as long as the process.
class EventQueue {
 public:
  EventQueue(uint32_t domain, uint32_t mask, size_t capacity) : capacity_(capacity) {
    events_.reserve(capacity);
    handle_ = listen(domain, mask, on_event, this);
  }
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue() { Listeners::instance().remove(handle_); }

  void close() { forget(handle_); }
  py::tuple take() {
    std::vector<dctx_event> taken;
    taken.reserve(capacity_);
    uint64_t drops = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      events_.swap(taken);
      std::swap(drops, drops_);
    }
    py::list rows;
    for (const dctx_event& event : taken) rows.append(row_of(event));
    return py::make_tuple(rows, drops);
  }

 private:
  static void on_event(const dctx_event* event, void* user) {
    auto& queue = *static_cast<EventQueue*>(user);
    const std::lock_guard<std::mutex> lock(queue.mutex_);
    if (queue.events_.size() < queue.capacity_) {
      queue.events_.push_back(*event);
    } else {
      ++queue.drops_;
    }
  }

  const size_t capacity_;
  int handle_ = -1;
  std::mutex mutex_;
  std::vector<dctx_event> events_;
  uint64_t drops_ = 0;
};

// Calls a Python function for each event, under the interpreter's lock.
class EventCalls {
 public:
  EventCalls(uint32_t domain, uint32_t mask, py::function function)
      : function_(std::move(function)) {
    handle_ = listen(domain, mask, on_event, this);
  }
  EventCalls(const EventCalls&) = delete;
  EventCalls& operator=(const EventCalls&) = delete;
  ~EventCalls() {
    const py::gil_scoped_release unlocked;
    Listeners::instance().remove(handle_);
  }

  void close() { forget(handle_); }

 private:
  static void on_event(const dctx_event* event, void* user) {
    const py::gil_scoped_acquire locked;
    try {
      static_cast<EventCalls*>(user)->function_(row_of(*event));
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("a listener of dctx's monitor");
    }
  }

  py::function function_;
  int handle_ = -1;
};

}  // namespace

void bind_monitor_events(py::module_& m) {
  py::class_<EventQueue>(m, "EventQueue")
      .def(py::init<uint32_t, uint32_t, size_t>(), py::arg("domain"), py::arg("mask"),
           py::arg("capacity"))
      .def("take", &EventQueue::take)
      .def("close", &EventQueue::close);
  py::class_<EventCalls>(m, "EventCalls")
      .def(py::init<uint32_t, uint32_t, py::function>(), py::arg("domain"), py::arg("mask"),
           py::arg("function"))
      .def("close", &EventCalls::close);
}

}  // namespace dctx
