#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace dctx {

// A read-only array over memory that `owner` keeps alive.
template <typename T>
pybind11::array_t<T> array_view(std::shared_ptr<const void> owner, const T* data, size_t size) {
  auto held = std::make_unique<std::shared_ptr<const void>>(std::move(owner));
  const pybind11::capsule base(
      held.get(), [](void* pointer) { delete static_cast<std::shared_ptr<const void>*>(pointer); });
  held.release();
  pybind11::array_t<T> array({static_cast<pybind11::ssize_t>(size)}, {}, data, base);
  pybind11::detail::array_proxy(array.ptr())->flags &=
      ~pybind11::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

// Ownership of a Python object by code that runs without the interpreter lock: the last owner
// takes the lock to let go of it, on whatever thread that is.
inline std::shared_ptr<const void> share_object(pybind11::object object) {
  return {object.release().ptr(), [](PyObject* pointer) {
            if (!Py_IsInitialized()) return;  // the interpreter has gone, and the object with it
            const pybind11::gil_scoped_acquire lock;
            Py_DECREF(pointer);
          }};
}

}  // namespace dctx
