// Memory that the allocator keeps although it is free.
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "bindings/bindings.hpp"

namespace dctx {

void bind_memory(pybind11::module_& m) {
  m.def("trim_memory", [] {
#ifdef __GLIBC__
    const pybind11::gil_scoped_release unlocked;
    malloc_trim(0);
#endif
  });
}

}  // namespace dctx
