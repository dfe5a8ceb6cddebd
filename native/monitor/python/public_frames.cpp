#include <Python.h>

#include "monitor/engine/frame_walk.hpp"
#include "monitor/python/code_text.hpp"
#include "monitor/python/frames.hpp"

namespace dctx::monitor {
namespace {

// Frame objects are told by their address. A running frame keeps its object alive, so that no
// reference is held between two calls.
class Locked {
 public:
  Locked() : state_(PyGILState_Ensure()) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

PyFrameObject* of(const void* frame) {
  return static_cast<PyFrameObject*>(const_cast<void*>(frame));
}

const void* borrowed(PyFrameObject* frame) {
  Py_XDECREF(frame);
  return frame;
}

const PyCodeObject* code_of(const void* frame) {
  PyCodeObject* const code = PyFrame_GetCode(of(frame));
  Py_DECREF(code);
  return code;
}

struct PublicFrames {
  static const void* leaf() {
    if (PyGILState_GetThisThreadState() == nullptr) return nullptr;
    const Locked locked;
    return borrowed(PyThreadState_GetFrame(PyThreadState_Get()));
  }
  static const void* caller(const void* frame) {
    const Locked locked;
    return borrowed(PyFrame_GetBack(of(frame)));
  }
  static const void* innermost() { return leaf(); }
  static const void* begun(const void* frame) { return frame; }
  static uint64_t code_age() { return 0; }
  static bool from_c(const void*) { return false; }  // the interface does not tell
  static const void* previous(const void* frame) { return caller(frame); }
  static bool complete(const void*) { return true; }
  static FramePlace place(const void* frame) {
    const Locked locked;
    return {code_of(frame), static_cast<uint64_t>(PyFrame_GetLasti(of(frame)))};
  }
  static uint64_t fingerprint(const void* code) {
    return code_fingerprint(static_cast<const PyCodeObject*>(code));
  }
  static int32_t line(const void* frame) {
    const Locked locked;
    return PyFrame_GetLineNumber(of(frame));
  }
  static CodeView describe(const void* frame) {
    const Locked locked;
    return describe_code(code_of(frame));
  }
};

}  // namespace

const PythonSource* public_frames() { return FrameWalk<PublicFrames>::source(); }

}  // namespace dctx::monitor
