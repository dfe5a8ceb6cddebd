// Work of GPUs in live recording: the vendors' libraries, and what they delivered.
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "monitor/gpu/cupti/cupti.hpp"
#include "monitor/gpu/devices.hpp"
#include "monitor/gpu/gpu_host.hpp"
#include "monitor/gpu/rocprofiler/rocprofiler.hpp"

namespace dctx {
namespace {

namespace py = pybind11;
using namespace monitor::gpu;

struct Outcome {
  int status;
  std::string reason;
};

const Provider& provider_named(const std::string& name) {
  if (name == "cupti") return cupti_provider();
  if (name == "rocprofiler") return rocprofiler_provider();
  throw py::value_error("there is no provider " + name);
}

std::string lines(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += text + "\n";
  return out;
}

Outcome probe(const std::string& name, const std::vector<std::string>& libraries) {
  const std::string candidates = lines(libraries);
  Config config;
  config.libraries = candidates.c_str();
  Reason reason;
  const Status status = provider_named(name).probe(config, reason);
  return {static_cast<int>(status), reason.text};
}

PcMode pc_mode(const std::string& name) {
  if (name == "off") return PcMode::off;
  if (name == "continuous") return PcMode::continuous;
  if (name == "serialized") return PcMode::serialized;
  if (name == "per-launch") return PcMode::per_launch;
  throw py::value_error("samples are off, continuous, serialized or per-launch, not " + name);
}

Outcome open(const std::string& name, const std::vector<std::string>& libraries, bool whole_graphs,
             const std::string& samples, uint32_t period) {
  const std::string candidates = lines(libraries);
  Config config;
  config.libraries = candidates.c_str();
  config.graphs = whole_graphs ? GraphMode::launch : GraphMode::node;
  Reason reason;
  PcConfig sampling;
  sampling.mode = pc_mode(samples);
  sampling.period_exponent = period;
  const Status status = Devices::instance().open(provider_named(name), config, reason, sampling);
  return {static_cast<int>(status), reason.text};
}

py::dict counts() {
  const WorkCounts found = GpuHost::instance().counts();
  py::dict out;
  out["launches"] = found.launches;
  out["records"] = found.records;
  out["placed"] = found.placed;
  out["orphans"] = found.orphans;
  out["outside"] = found.outside;
  out["dropped"] = found.dropped;
  return out;
}

}  // namespace

void bind_gpu(py::module_& m) {
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<Outcome>(m, "GpuOutcome")
      .def_readonly("status", &Outcome::status)
      .def_readonly("reason", &Outcome::reason);
  py::class_<Devices, std::unique_ptr<Devices, py::nodelete>>(m, "Gpu")
      .def_static("probe", probe, py::arg("provider"), py::arg("libraries"), Unlocked())
      .def_static("open", open, py::arg("provider"), py::arg("libraries"), py::kw_only(),
                  py::arg("whole_graphs") = false, py::arg("samples") = "off",
                  py::arg("sample_period") = PcConfig{}.period_exponent, Unlocked())
      .def_static(
          "flush", [](bool force) { Devices::instance().flush(force); }, py::arg("force"),
          Unlocked())
      .def_static(
          "close", [] { Devices::instance().close(); }, Unlocked())
      .def_static("versions", [] { return Devices::instance().versions(); })
      .def_static("take_notes", [] { return GpuHost::instance().take_notes(); })
      .def_static("counts", counts);
}

}  // namespace dctx
