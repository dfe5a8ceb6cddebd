// The recorder's control, and the check sum that readers of its files need.
#include "monitor/recorder/recorder.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <tuple>
#include <variant>

#include "bindings/bindings.hpp"
#include "common/elf_symbols.hpp"
#include "monitor/recorder/chunks.hpp"
#include "monitor/recorder/crc32c.hpp"
#include "monitor/recorder/own_cost.hpp"
#include "monitor/recorder/table.hpp"

namespace dctx {
namespace {

namespace py = pybind11;
using namespace monitor;

bool start(const std::string& path, const std::string& meta, int64_t interval_ns, bool durable,
           int64_t start_ns, int64_t stop_ns, bool paused, int toggle_signal,
           const std::string& control, std::tuple<uint64_t, uint64_t, uint64_t> window) {
  RecorderOptions options;
  options.path = path;
  options.interval_ns = interval_ns;
  options.durable = durable;
  options.start_ns = start_ns;
  options.stop_ns = stop_ns;
  options.paused = paused;
  options.toggle_signal = toggle_signal;
  options.control_path = control;
  options.window = {std::get<0>(window), std::get<1>(window), std::get<2>(window)};
  return Recorder::instance().start(options, meta);
}

// `kind`: four letters.
void attach(const std::string& kind, const py::bytes& content) {
  if (kind.size() != 4) throw py::value_error("the kind of a chunk has four letters, not " + kind);
  const char name[5] = {kind[0], kind[1], kind[2], kind[3], '\0'};
  std::string bytes = content;
  const py::gil_scoped_release unlocked;
  Recorder::instance().attach(chunk_type(name), std::move(bytes));
}

// A table's content; each column holds whole numbers, or texts.
py::bytes table(
    const std::vector<std::variant<std::vector<int64_t>, std::vector<std::string>>>& columns,
    uint32_t owner) {
  const auto rows_of = [](const auto& values) { return values.size(); };
  const size_t rows = columns.empty() ? 0 : std::visit(rows_of, columns.front());
  Table made(rows, 0, owner);
  uint8_t id = 0;
  for (const auto& column : columns) {
    if (std::visit(rows_of, column) != rows) throw py::value_error("columns differ in length");
    if (const auto* numbers = std::get_if<std::vector<int64_t>>(&column)) {
      made.integers(id, *numbers);
    } else {
      const auto& texts = std::get<std::vector<std::string>>(column);
      made.texts(id, {texts.begin(), texts.end()});
    }
    ++id;
  }
  return made.content();
}

uint32_t check_sum(const py::buffer& data, uint32_t before) {
  const py::buffer_info info = data.request();
  return crc32c(info.ptr, static_cast<size_t>(info.size * info.itemsize), before);
}

// (start of the function, its name) for each address; None when the library cannot be used.
std::optional<std::vector<std::pair<uint64_t, std::string>>> module_symbols(
    const std::string& path, const std::string& build_id, const std::vector<uint64_t>& addresses) {
  std::vector<ElfSymbol> found;
  if (!symbols_of_module(path, build_id, addresses, &found)) return std::nullopt;
  std::vector<std::pair<uint64_t, std::string>> out;
  for (ElfSymbol& symbol : found) out.emplace_back(symbol.start, std::move(symbol.name));
  return out;
}

}  // namespace

void bind_recorder(py::module_& m) {
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<RecorderState>(m, "RecorderState")
      .def_readonly("running", &RecorderState::running)
      .def_readonly("recording", &RecorderState::recording)
      .def_readonly("path", &RecorderState::path)
      .def_readonly("file_bytes", &RecorderState::file_bytes)
      .def_readonly("snapshots", &RecorderState::snapshots)
      .def_readonly("compactions", &RecorderState::compactions)
      .def_readonly("cpu_ns", &RecorderState::cpu_ns)
      .def_readonly("error", &RecorderState::error)
      .def_readonly("trouble", &RecorderState::trouble)
      .def_property_readonly("nodes", [](const RecorderState& s) { return s.totals.nodes; })
      .def_property_readonly("events", [](const RecorderState& s) { return s.totals.events; })
      .def_property_readonly("steps", [](const RecorderState& s) { return s.totals.steps; });

  py::class_<Recorder, std::unique_ptr<Recorder, py::nodelete>>(m, "Recorder")
      .def_static("start", start, py::arg("path"), py::arg("meta"), py::kw_only(),
                  py::arg("interval_ns"), py::arg("durable") = false, py::arg("start_ns") = -1,
                  py::arg("stop_ns") = -1, py::arg("paused") = false, py::arg("toggle_signal") = 0,
                  py::arg("control") = "", py::arg("window") = std::make_tuple(0, 0, 1), Unlocked())
      .def_static(
          "set_meta", [](const std::string& meta) { Recorder::instance().set_meta(meta); },
          py::arg("meta"), Unlocked())
      .def_static("attach", attach, py::arg("kind"), py::arg("content"))
      .def_static("table", table, py::arg("columns"), py::kw_only(), py::arg("owner") = 0)
      .def_static(
          "record", [](bool on) { Recorder::instance().pause(Recorder::Pause::user, !on); },
          py::arg("on"), Unlocked())
      .def_static(
          "step_ended",
          [](bool by_program) {
            Recorder::instance().step_ended(by_program ? StepTeller::program
                                                       : StepTeller::optimizer);
          },
          py::kw_only(), py::arg("by_program"), Unlocked())
      .def_static("measured_event_ns", measured_event_ns)
      .def_static("measured_launch_ns", measured_launch_ns)
      .def_static(
          "snapshot", [] { return Recorder::instance().snapshot(); }, Unlocked())
      .def_static(
          "stop", [] { return Recorder::instance().stop(); }, Unlocked())
      .def_static("state", [] { return Recorder::instance().state(); }, Unlocked());

  m.def("module_symbols", module_symbols, py::arg("path"), py::arg("build_id"),
        py::arg("addresses"));
  m.def("crc32c", check_sum, py::arg("data"), py::arg("before") = 0);
}

}  // namespace dctx
