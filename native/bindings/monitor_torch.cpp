// Live recording of torch: probe for calibration, attach and detach.
#include <pybind11/stl.h>

#include <memory>

#include "bindings/bindings.hpp"
#include "monitor/torch/hooks.hpp"
#include "monitor/torch/idle_callback.hpp"
#include "monitor/torch/memory.hpp"
#include "monitor/torch/nvtx.hpp"
#include "monitor/torch/probe.hpp"

namespace dctx {
namespace {

namespace py = pybind11;
using namespace monitor;

TorchSymbols required_torch() {
  std::string reason;
  const TorchSymbols symbols = find_torch(&reason);
  if (!symbols.complete()) throw std::runtime_error(reason);
  return symbols;
}

py::list samples_of(const TorchProbe& probe) {
  py::list out;
  for (const EventSample& sample : probe.samples()) {
    out.append(py::make_tuple(py::str(sample.name), sample.thread, py::bytes(sample.memory)));
  }
  return out;
}

py::list arguments_of(const TorchProbe& probe) {
  py::list out;
  for (const EventSample& sample : probe.samples()) {
    out.append(py::make_tuple(py::str(sample.name), py::str(sample.arguments)));
  }
  return out;
}

void attach(int32_t scope, int32_t sequence, int32_t forward_thread, bool arguments) {
  TorchHooks::instance().attach(required_torch(), {scope, sequence, forward_thread}, arguments);
}

void find_memory() {
  std::string reason;
  if (!TorchMemory::find(&reason)) throw std::runtime_error(reason);
}

py::list end_memory_probe() {
  py::list out;
  for (const TorchMemory::Report& report : TorchMemory::end_probe()) {
    out.append(py::make_tuple(report.bytes, report.device_type, report.device));
  }
  return out;
}

}  // namespace

void bind_monitor_torch(py::module_& m) {
  py::class_<TorchProbe>(m, "TorchProbe")
      .def(py::init([](uint32_t scopes, bool arguments) {
             return std::make_unique<TorchProbe>(required_torch(), scopes, arguments);
           }),
           py::arg("scopes"), py::kw_only(), py::arg("arguments") = false)
      .def("samples", samples_of)
      .def("arguments", arguments_of);
  py::class_<TorchIdle>(m, "TorchIdle").def(py::init([] {
    return std::make_unique<TorchIdle>(required_torch());
  }));
  py::class_<TorchHooks, std::unique_ptr<TorchHooks, py::nodelete>>(m, "TorchHooks")
      .def_static("thread_id", [] { return required_torch().thread_id(); })
      .def_static("attach", attach, py::arg("scope"), py::arg("sequence"),
                  py::arg("forward_thread"), py::kw_only(), py::arg("arguments") = false)
      .def_static("detach", [] { TorchHooks::instance().detach(); })
      .def_static("attached", [] { return TorchHooks::instance().attached(); })
      .def_static("associates", [] { return TorchHooks::instance().associates(); })
      .def_static("violation", [] { return TorchHooks::instance().violation(); });
  py::class_<TorchNvtx, std::unique_ptr<TorchNvtx, py::nodelete>>(m, "TorchNvtx")
      .def_static("installed", &TorchNvtx::installed)
      .def_static("listen", &TorchNvtx::listen, py::arg("on"))
      .def_static("begin_probe", &TorchNvtx::begin_probe)
      .def_static("end_probe", &TorchNvtx::end_probe);
  py::class_<TorchMemory, std::unique_ptr<TorchMemory, py::nodelete>>(m, "TorchMemory")
      .def_static("find", find_memory)
      .def_static("start", &TorchMemory::start)
      .def_static("stop", &TorchMemory::stop)
      .def_static("release", &TorchMemory::yield)
      .def_static("resume", &TorchMemory::resume)
      .def_static("begin_probe", &TorchMemory::begin_probe)
      .def_static("end_probe", end_memory_probe);
}

}  // namespace dctx
