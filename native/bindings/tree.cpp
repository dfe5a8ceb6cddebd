// The tree part of the module, subject by subject.
#include "bindings/bindings.hpp"
#include "bindings/tree_parts.hpp"

namespace dctx {

void bind_tree(pybind11::module_& m) {
  bind_strings(m);
  bind_rows(m);
  bind_intervals(m);
  bind_nesting(m);
  bind_paths(m);
  bind_views(m);
}

}  // namespace dctx
