#pragma once
// numpy in without a copy, native vectors out without a copy.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings/numpy.hpp"
#include "tree/key_columns.hpp"

namespace dctx {

namespace py = pybind11;

constexpr int kPlainArray = py::array::c_style | py::detail::npy_api::NPY_ARRAY_ALIGNED_;

inline void check_one_dimension(const py::array& array, const char* name) {
  if (array.ndim() != 1) {
    throw std::invalid_argument(std::string(name) + ": expected one dimension");
  }
}

// A one-dimensional array of exactly the item type T; copied only when it is strided.
template <class T>
class Input {
 public:
  Input(const py::array& array, const char* name) : name_(name) {
    if (!py::isinstance<py::array_t<T>>(array)) {
      throw std::invalid_argument(std::string(name) + ": expected " +
                                  std::string(py::str(py::dtype::of<T>())) + ", got " +
                                  std::string(py::str(array.dtype())));
    }
    check_one_dimension(array, name);
    array_ = py::array_t<T, kPlainArray>::ensure(array);
    if (!array_) throw py::error_already_set();
  }

  const T* data() const { return array_.data(); }
  size_t size() const { return static_cast<size_t>(array_.size()); }

  // The same, when it has the length that the other arrays have.
  const Input& of_length(size_t length) const {
    if (size() != length) {
      throw std::invalid_argument(std::string(name_) + ": has " + std::to_string(size()) +
                                  " rows, expected " + std::to_string(length));
    }
    return *this;
  }

 private:
  const char* name_;
  py::array_t<T, kPlainArray> array_;
};

template <class T>
py::array_t<T> to_array(std::vector<T>&& values) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  const T* const data = owner->data();
  const size_t size = owner->size();
  return array_view(std::move(owner), data, size);
}

// An object that Python threads share: its methods run one at a time.
template <class T>
class Guarded {
 public:
  template <class... Args>
  explicit Guarded(Args&&... args) : value_(std::forward<Args>(args)...) {}

  // Without the GIL.
  template <class Work>
  auto with(Work&& work) {
    const py::gil_scoped_release no_gil;
    const std::lock_guard<std::mutex> lock(mutex_);
    return work(value_);
  }

  // For work of microseconds: letting go of the GIL could cost a thread switch, milliseconds.
  template <class Work>
  auto briefly(Work&& work) {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    return lock ? work(value_) : with(work);
  }

 private:
  T value_;
  std::mutex mutex_;
};

template <class Work>
auto without_gil(Work&& work) {
  const py::gil_scoped_release no_gil;
  return work();
}

}  // namespace dctx
