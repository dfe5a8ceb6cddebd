// Live recording: control, frames, scopes, and what was recorded so far.
#include <pybind11/stl.h>

#include <sstream>
#include <tuple>

#include "bindings/bindings.hpp"
#include "monitor/engine/clock.hpp"
#include "monitor/engine/context.hpp"
#include "monitor/engine/cpu_sampler.hpp"
#include "monitor/engine/events.hpp"
#include "monitor/engine/python_source.hpp"
#include "monitor/gpu/gpu_host.hpp"
#include "monitor/python/frames.hpp"
#include "monitor/unwind/native_frames.hpp"

namespace dctx {
namespace {

namespace py = pybind11;
using namespace monitor;

// An event that a Python program opens: told by the address of the object.
class Event {
 public:
  Event(std::string name, bool is_scope, int64_t sequence)
      : name_(std::move(name)), is_scope_(is_scope), sequence_(sequence) {}

  void enter() const {
    ThreadRecord* const record = own();
    if (record == nullptr) return;
    if (is_scope_) {
      begin_scope(*record, this, scope_name(*record, name_.c_str()));
    } else {
      begin_operator(*record, this, operator_name(*record, name_.c_str()), sequence_);
    }
  }
  void leave() const {
    Registry& registry = Registry::instance();
    if (ThreadRecord* const record = registry.current_if_any(); record != nullptr) {
      end_event(*record, this);
    } else if (is_scope_ && !registry.active()) {
      scope_ended_unrecorded(name_.c_str());
    }
  }

 private:
  static ThreadRecord* own() {
    Registry& registry = Registry::instance();
    return registry.active() ? registry.current() : nullptr;
  }
  std::string name_;
  bool is_scope_;
  int64_t sequence_;
};

class Scope : public Event {
 public:
  explicit Scope(std::string name) : Event(std::move(name), true, -1) {}
};

class Operator : public Event {
 public:
  Operator(std::string name, int64_t sequence, std::string shapes, std::string types)
      : Event(std::move(name), false, sequence),
        shapes_(std::move(shapes)),
        types_(std::move(types)) {}

  void enter() const {
    Event::enter();
    Registry& registry = Registry::instance();
    ThreadRecord* const record = registry.active() ? registry.current() : nullptr;
    if (record == nullptr || shapes_.empty()) return;
    OpenEvent& begun = record->open.back();
    if (begun.identity != this) return;  // too deep
    begun.arguments = record->arguments.row(begun.node, shapes_ + '\n' + types_, [&] {
      return registry.arguments().intern(
          {registry.strings().intern(shapes_), registry.strings().intern(types_)});
    });
  }

 private:
  std::string shapes_;
  std::string types_;
};

py::str decoded(std::string_view text) {
  PyObject* const object =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(object);
}

// (kind, name, file, line, first line) of a node.
py::tuple frame_of(const NodeView& view) {
  Registry& registry = Registry::instance();
  if (view.kind == NodeKind::python) {
    const CodeView code = registry.codes().view(static_cast<uint32_t>(view.label));
    return py::make_tuple(static_cast<int>(view.kind),
                          decoded(registry.strings().text(code.function)),
                          decoded(registry.strings().text(code.file)), view.line, code.first_line);
  }
  if (view.kind == NodeKind::native) {
    const ModuleView module = registry.modules().view(native_module(view.label));
    const std::string_view path = registry.strings().text(module.path);
    std::ostringstream name;
    name << path.substr(path.rfind('/') + 1) << "+0x" << std::hex << native_offset(view.label);
    return py::make_tuple(static_cast<int>(view.kind), decoded(name.str()), decoded(path), 0, 0);
  }
  return py::make_tuple(static_cast<int>(view.kind),
                        decoded(registry.strings().text(static_cast<uint32_t>(view.label))), "", 0,
                        0);
}

// Nodes of one thread, parents first.
py::list node_rows(const ThreadStore& store) {
  py::list rows;
  const uint32_t count = store.node_count();
  for (uint32_t node = 0; node < count; ++node) {
    const NodeView view = store.view(node);
    const MetricView m = store.metrics(node);
    const auto parent = view.parent == kNoNode ? -1 : int64_t{view.parent};
    const auto alternate = view.alternate == kNoNode ? -1 : int64_t{view.alternate};
    rows.append(py::make_tuple(parent, alternate, frame_of(view), m.count, m.sum_ns, m.self_ns,
                               m.min_ns, m.max_ns, m.sum_sq, m.host_gap_ns, m.cpu_ns, m.faults,
                               m.bytes));
  }
  return rows;
}

py::list threads() {
  Registry& registry = Registry::instance();
  py::list out;
  for (const ThreadRecord* thread : registry.threads()) {
    const ThreadRecord& record = *thread;
    out.append(py::make_tuple(record.index, record.os_thread.load(), record.store.top_level_ns(),
                              node_rows(record.store)));
  }
  return out;
}

py::list callpath(uint32_t sources, uint32_t skip) {
  const PackedContext context = context_now(sources, skip);
  std::vector<NodeView> path;
  if (context.known()) {
    const ThreadStore& store = Registry::instance().thread(context.thread()).store;
    for (uint64_t node = context.node(); node != 0;) {
      path.push_back(store.view(static_cast<uint32_t>(node)));
      node = path.back().parent;
    }
  }
  py::list out;
  for (size_t i = path.size(); i-- > 0;) out.append(frame_of(path[i]));
  return out;
}

py::dict losses() {
  py::dict out;
  for (size_t i = 0; i < kLossNames.size(); ++i) {
    out[kLossNames[i]] = Registry::instance().losses().get(static_cast<Loss>(i));
  }
  return out;
}

// Hook calls of all threads, and what they took: estimated from those that were timed.
py::tuple hook_cost() {
  Registry& registry = Registry::instance();
  uint64_t calls = 0;
  int64_t cost_ns = 0;
  for (const ThreadRecord* thread : registry.threads()) {
    const HookCost& cost = thread->cost;
    calls += cost.calls.load();
    cost_ns += cost.estimated_ns();
  }
  return py::make_tuple(calls, cost_ns);
}

py::list steps() {
  py::list out;
  for (const StepSpan& span : Registry::instance().steps().spans()) {
    out.append(py::make_tuple(span.first, span.count, span.begin_ns, span.end_ns, span.longest_ns,
                              span.wall_ns, span.used.cpu_ns, span.host_gap_ns));
  }
  return out;
}

void use_frames(const std::string& which) {
  const PythonSource* source = nullptr;
  if (which == "raw") {
    source = raw_frames();
    if (source == nullptr) throw py::value_error("the frames of this Python cannot be read raw");
    watch_code();
  } else if (which == "public") {
    source = public_frames();
  } else if (which != "none") {
    throw py::value_error("frames are raw, public or none, not " + which);
  }
  engine_state.python.store(source, std::memory_order_release);
}

std::string use_native_frames(const std::string& mode) {
  NativeSource source = nullptr;
  MergedSource merged = nullptr;
  NativeWhen when = NativeWhen::once;
  std::string reason;
  if (mode == "exact") {
    source = fast_native_frames(&reason);
    when = NativeWhen::always;
  } else if (mode == "cached" || mode == "launch" || mode == "full") {
    source = native_frames();
    if (mode == "launch") when = NativeWhen::launches;
    if (mode == "full") merged = merged_frames();
  } else if (mode != "off") {
    throw py::value_error("native frames are off, cached, exact, launch or full, not " + mode);
  }
  engine_state.native_when.store(when, std::memory_order_relaxed);
  engine_state.native.store(source, std::memory_order_relaxed);
  engine_state.merged.store(merged, std::memory_order_relaxed);
  return reason;
}

std::string choose_counters(const std::vector<std::string>& names) {
  std::string reason;
  PerfCounters::choose(names, &reason);
  return reason;
}

std::string sample_cpu(uint32_t hz) {
  std::string reason;
  if (hz == 0) {
    CpuSampler::instance().stop();
  } else {
    CpuSampler::instance().start(hz, function_label, &reason);
  }
  return reason;
}

void leave(const Event& event, const py::args&) { event.leave(); }

}  // namespace

void bind_monitor(py::module_& m) {
  py::class_<Event>(m, "_Event").def("__exit__", leave);
  py::class_<Scope, Event>(m, "Scope")
      .def(py::init<std::string>(), py::arg("name"))
      .def("__enter__", [](const py::object& self) {
        self.cast<const Scope&>().enter();
        return self;
      });
  py::class_<Operator, Event>(m, "Operator")
      .def(py::init<std::string, int64_t, std::string, std::string>(), py::arg("name"),
           py::kw_only(), py::arg("sequence") = -1, py::arg("shapes") = "", py::arg("types") = "")
      .def("__enter__", [](const py::object& self) {
        self.cast<const Operator&>().enter();
        return self;
      });

  Registry& registry = Registry::instance();
  py::class_<Registry, std::unique_ptr<Registry, py::nodelete>>(m, "Monitor")
      .def_static(
          "start",
          [&registry](uint64_t max_nodes, uint64_t max_bytes, bool usage,
                      const std::string& step_marker) {
            EngineConfig config;
            config.max_nodes = std::min(max_nodes, std::max<uint64_t>(max_bytes / kNodeBytes, 1));
            config.usage = usage;
            config.step_marker = scope_label(step_marker);
            registry.start(config);
          },
          py::kw_only(), py::arg("max_nodes") = EngineConfig{}.max_nodes,
          py::arg("max_bytes") = ~uint64_t{0}, py::arg("usage") = true, py::arg("step_marker") = "")
      .def_static("stop", [&registry] { registry.stop(); })
      .def_static("clear",
                  [&registry] {
                    registry.clear();
                    gpu::GpuHost::instance().clear();
                  })
      .def_static("active", [&registry] { return registry.active(); })
      .def_static("node_count", [&registry] { return registry.budget().used.load(); })
      .def_static("threads", threads)
      .def_static("callpath", callpath, py::arg("sources"), py::kw_only(), py::arg("skip") = 0)
      .def_static("losses", losses)
      .def_static("hook_cost", hook_cost)
      .def_static("steps", steps)
      .def_static("measures_with_counter", [] { return Clock::uses_counter(); })
      .def_static("mark_step",
                  [&registry] {
                    if (registry.step_marker() == 0) {
                      registry.steps().mark_by_program(registry.end_of_step());
                    }
                  })
      .def_static("use_frames", use_frames, py::arg("which"))
      .def_static("use_native_frames", use_native_frames, py::arg("mode"))
      .def_static("choose_counters", choose_counters, py::arg("names"))
      .def_static("known_counters", [] { return PerfCounters::known(); })
      .def_static("sample_cpu", sample_cpu, py::arg("hz"))
      .def_static("frames_agree", frames_agree);
}

}  // namespace dctx
