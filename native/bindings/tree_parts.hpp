#pragma once
#include <pybind11/pybind11.h>

namespace dctx {

void bind_strings(pybind11::module_& m);
void bind_rows(pybind11::module_& m);
void bind_intervals(pybind11::module_& m);
void bind_nesting(pybind11::module_& m);
void bind_paths(pybind11::module_& m);
void bind_views(pybind11::module_& m);

}  // namespace dctx
