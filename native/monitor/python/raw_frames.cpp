// The layout of frames is private to each minor version of Python: this is compiled against the
// internal header of the one it is built for, and compared with the public interface before use.
#define Py_BUILD_CORE 1
#include <Python.h>

#include <atomic>

#include "monitor/engine/frame_walk.hpp"
#include "monitor/python/code_text.hpp"
#include "monitor/python/frames.hpp"

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED) && \
    !defined(PYPY_VERSION)
#define DCTX_RAW_FRAMES 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#include <internal/pycore_frame.h>
#pragma GCC diagnostic pop
#endif

namespace dctx::monitor {

#ifdef DCTX_RAW_FRAMES
namespace {

using InterpreterFrame = _PyInterpreterFrame;

// How many code objects have ended, counted from 1; 0: not known. A thread that runs code at an
// address that was another's has taken the interpreter's lock since that one ended.
std::atomic<uint64_t> ended_codes{0};
destructor free_code = nullptr;  // the interpreter's own

void end_code(PyObject* code) {
  ended_codes.fetch_add(1, std::memory_order_relaxed);
  free_code(code);
}

struct RawFrames {
  static const InterpreterFrame* current(const PyThreadState* state) {
#if PY_VERSION_HEX >= 0x030D0000
    return state->current_frame;
#else
    return state->cframe->current_frame;
#endif
  }
  static PyCodeObject* code(const InterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030D0000
    return reinterpret_cast<PyCodeObject*>(frame->f_executable);
#else
    return frame->f_code;
#endif
  }
  static const _Py_CODEUNIT* position(const InterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030D0000
    return frame->instr_ptr;
#else
    return frame->prev_instr;
#endif
  }
  // A frame of Python code that has begun to run: not a shim at an entry from C, nor one whose
  // arguments are still being set up.
  static bool complete(const InterpreterFrame* frame) {
    if (frame->owner == FRAME_OWNED_BY_GENERATOR) return true;
#if PY_VERSION_HEX >= 0x030C0000
    if (frame->owner >= FRAME_OWNED_BY_CSTACK) return false;
#endif
#if PY_VERSION_HEX >= 0x030D0000
    if (!PyCode_Check(frame->f_executable)) return false;
#endif
    PyCodeObject* const own = code(frame);
    return position(frame) >= _PyCode_CODE(own) + own->_co_firsttraceable;
  }
  static bool complete(const void* frame) {
    return complete(static_cast<const InterpreterFrame*>(frame));
  }
  static const InterpreterFrame* from(const InterpreterFrame* frame) {
    while (frame != nullptr && !complete(frame)) frame = frame->previous;
    return frame;
  }
  // Of Python code at all.
  static bool has_code(const InterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030D0000
    if (!PyCode_Check(frame->f_executable)) return false;
#endif
#if PY_VERSION_HEX >= 0x030C0000
    return frame->owner < FRAME_OWNED_BY_CSTACK;
#else
    static_cast<void>(frame);
    return true;
#endif
  }

  static const void* innermost() {
    const PyThreadState* state = PyGILState_GetThisThreadState();
    return state == nullptr ? nullptr : with_code(current(state));
  }
  static const void* begun(const void* frame) {
    return from(static_cast<const InterpreterFrame*>(frame));
  }
  static const void* leaf() { return begun(innermost()); }
  static const void* caller(const void* frame) {
    return from(static_cast<const InterpreterFrame*>(frame)->previous);
  }
  static bool from_c(const void* frame) {
    const auto* at = static_cast<const InterpreterFrame*>(frame);
#if PY_VERSION_HEX >= 0x030C0000
    return at->previous == nullptr || at->previous->owner >= FRAME_OWNED_BY_CSTACK;
#else
    return at->is_entry;
#endif
  }
  static const InterpreterFrame* with_code(const InterpreterFrame* frame) {
    while (frame != nullptr && !has_code(frame)) frame = frame->previous;
    return frame;
  }
  static const void* previous(const void* frame) {
    return with_code(static_cast<const InterpreterFrame*>(frame)->previous);
  }
  static FramePlace place(const void* frame) {
    const auto* at = static_cast<const InterpreterFrame*>(frame);
    return {code(at), reinterpret_cast<uintptr_t>(position(at))};
  }
  static uint64_t fingerprint(const void* code) {
    return code_fingerprint(static_cast<const PyCodeObject*>(code));
  }
  static uint64_t code_age() { return ended_codes.load(std::memory_order_relaxed); }
  static int32_t line(const void* frame) {
    const auto* at = static_cast<const InterpreterFrame*>(frame);
    PyCodeObject* const own = code(at);
    const auto units = position(at) - _PyCode_CODE(own);
    return PyCode_Addr2Line(own, static_cast<int>(units) * static_cast<int>(sizeof(_Py_CODEUNIT)));
  }
  static CodeView describe(const void* frame) {
    return describe_code(code(static_cast<const InterpreterFrame*>(frame)));
  }
};

}  // namespace

const PythonSource* raw_frames() { return FrameWalk<RawFrames>::source(); }

// Never undone, as this library is never unloaded.
void watch_code() {
  if (free_code != nullptr) return;
  free_code = PyCode_Type.tp_dealloc;
  PyCode_Type.tp_dealloc = end_code;
  ended_codes.store(1, std::memory_order_relaxed);
}

bool frames_agree() {
  PyFrameObject* expected = PyThreadState_GetFrame(PyThreadState_Get());
  const void* frame = RawFrames::leaf();
  bool agree = true;
  while (agree && frame != nullptr && expected != nullptr) {
    PyCodeObject* const code = PyFrame_GetCode(expected);
    agree = RawFrames::place(frame).code == code &&
            RawFrames::line(frame) == PyFrame_GetLineNumber(expected);
    Py_DECREF(code);
    PyFrameObject* const caller = PyFrame_GetBack(expected);
    Py_DECREF(expected);
    expected = caller;
    frame = RawFrames::caller(frame);
  }
  agree = agree && frame == nullptr && expected == nullptr;
  Py_XDECREF(expected);
  return agree;
}
#else
const PythonSource* raw_frames() { return nullptr; }
void watch_code() {}
bool frames_agree() { return false; }
#endif

}  // namespace dctx::monitor
