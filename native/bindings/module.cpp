// The Python module: one thin binding file per part of the core.
#include <pybind11/pybind11.h>

#include "bindings/bindings.hpp"

PYBIND11_MODULE(_core, m) {
  m.doc() = "Native core of dctx: format readers, interval sweeps, call trees, live recording.";
  dctx::bind_arrow(m);
  dctx::bind_document(m);
  dctx::bind_gpu(m);
  dctx::bind_memory(m);
  dctx::bind_monitor(m);
  dctx::bind_monitor_devices(m);
  dctx::bind_monitor_events(m);
  dctx::bind_monitor_torch(m);
  dctx::bind_recorder(m);
  dctx::bind_scan(m);
  dctx::bind_tree(m);
  dctx::bind_xplane(m);  // after the string pool it fills
  dctx::bind_trace_events(m);
}
