#pragma once
#include <pybind11/pybind11.h>

namespace dctx {

void bind_arrow(pybind11::module_& m);
void bind_document(pybind11::module_& m);
void bind_gpu(pybind11::module_& m);
void bind_memory(pybind11::module_& m);
void bind_monitor(pybind11::module_& m);
void bind_monitor_devices(pybind11::module_& m);
void bind_monitor_events(pybind11::module_& m);
void bind_monitor_torch(pybind11::module_& m);
void bind_recorder(pybind11::module_& m);
void bind_scan(pybind11::module_& m);
void bind_tree(pybind11::module_& m);
void bind_xplane(pybind11::module_& m);
void bind_trace_events(pybind11::module_& m);

}  // namespace dctx
