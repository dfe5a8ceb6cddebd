// The C interface. init and finalize go through the Python module, which knows how to attach.
#include <Python.h>

#include <algorithm>
#include <string>
#include <vector>

#include "monitor/api/dctx_monitor.h"
#include "monitor/engine/context.hpp"
#include "monitor/engine/listeners.hpp"
#include "monitor/engine/native_source.hpp"
#include "monitor/engine/registry.hpp"

#define DCTX_EXPORT __attribute__((visibility("default")))

namespace {

using namespace dctx::monitor;

thread_local std::string last_error;

int failed(int code, const std::string& reason) {
  last_error = reason;
  return code;
}

class Locked {
 public:
  Locked() : state_(PyGILState_Ensure()) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

// The text of the Python error that is set; clears it.
std::string take_error() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* const text = value != nullptr ? PyObject_Str(value) : nullptr;
  const char* const utf8 = text != nullptr ? PyUnicode_AsUTF8(text) : nullptr;
  std::string reason = utf8 != nullptr ? utf8 : "an error of Python";
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  PyErr_Clear();
  return reason;
}

// Calls a function of dctx.native.monitor; `arguments` is taken over and may be null.
int call(const char* function, PyObject* arguments, PyObject* keywords) {
  PyObject* const module = PyImport_ImportModule("dctx.native.monitor");
  PyObject* const callee = module != nullptr ? PyObject_GetAttrString(module, function) : nullptr;
  PyObject* const result = callee != nullptr && arguments != nullptr
                               ? PyObject_Call(callee, arguments, keywords)
                               : nullptr;
  const int code = result != nullptr ? 0 : failed(-1, take_error());
  Py_XDECREF(result);
  Py_XDECREF(callee);
  Py_XDECREF(module);
  Py_XDECREF(arguments);
  Py_XDECREF(keywords);
  return code;
}

dctx_frame frame_of(const NodeView& view) {
  Registry& registry = Registry::instance();
  dctx_frame frame{};
  frame.size = sizeof frame;
  frame.abi = DCTX_ABI;
  frame.kind = static_cast<uint32_t>(view.kind);
  frame.line = view.line;
  frame.file = "";
  if (view.kind == NodeKind::python) {
    const CodeView code = registry.codes().view(static_cast<uint32_t>(view.label));
    frame.name = registry.strings().text(code.function).data();
    frame.file = registry.strings().text(code.file).data();
  } else if (view.kind == NodeKind::native) {
    frame.name =
        registry.strings().text(registry.modules().view(native_module(view.label)).path).data();
    frame.offset = native_offset(view.label);
  } else {
    frame.name = registry.strings().text(static_cast<uint32_t>(view.label)).data();
  }
  return frame;
}

}  // namespace

extern "C" {

DCTX_EXPORT int dctx_init(const dctx_config* config) {
  if (config == nullptr || config->size < sizeof(dctx_config) || config->abi != DCTX_ABI) {
    return failed(-2, "the configuration has another size or version than this library knows");
  }
  if (Py_IsInitialized() == 0) return failed(-3, "Python does not run in this process");
  const Locked locked;
  const unsigned long long nodes =
      config->max_nodes != 0 ? config->max_nodes : EngineConfig{}.max_nodes;
  PyObject* const module = PyImport_ImportModule("dctx.native.monitor");
  PyObject* const source =
      module != nullptr ? PyObject_CallMethod(module, "Source", "I", config->sources) : nullptr;
  Py_XDECREF(module);
  if (source == nullptr) return failed(-1, take_error());
  return call("init", Py_BuildValue("(N)", source), Py_BuildValue("{s:K}", "max_nodes", nodes));
}

DCTX_EXPORT int dctx_finalize(void) {
  if (Py_IsInitialized() == 0) return failed(-3, "Python does not run in this process");
  const Locked locked;
  return call("finalize", PyTuple_New(0), nullptr);
}

DCTX_EXPORT int dctx_callback_register(dctx_domain domain, uint32_t event_mask, dctx_event_fn fn,
                                       void* user) {
  if (fn == nullptr) return failed(-2, "no function");
  const int handle = Listeners::instance().add(static_cast<uint32_t>(domain), event_mask, fn, user);
  if (handle == Listeners::kInside) return failed(handle, "called from inside a listener");
  if (handle < 0) return failed(handle, "no more than 16 listeners can be registered");
  return handle;
}

DCTX_EXPORT int dctx_callback_unregister(int handle) {
  const int code = Listeners::instance().remove(handle);
  if (code == Listeners::kInside) return failed(code, "called from inside a listener");
  return code < 0 ? failed(code, "no such listener") : code;
}

DCTX_EXPORT int dctx_callpath_get(uint32_t sources, uint32_t flags, dctx_frame* frames,
                                  size_t capacity, size_t* n) {
  if (flags != 0 || n == nullptr || (frames == nullptr && capacity > 0)) {
    return failed(-2, "arguments out of range");
  }
  *n = 0;
  try {
    const PackedContext context = context_now(sources);
    if (!context.known()) return 0;
    const ThreadStore& store = Registry::instance().thread(context.thread()).store;
    std::vector<NodeView> path;
    for (auto node = static_cast<uint32_t>(context.node()); node != 0; node = path.back().parent) {
      path.push_back(store.view(node));
    }
    *n = path.size();
    for (size_t i = 0; i < std::min(capacity, path.size()); ++i) {
      frames[i] = frame_of(path[path.size() - 1 - i]);
    }
  } catch (...) {
    return failed(-4, "memory is out");
  }
  return 0;
}

DCTX_EXPORT const char* dctx_last_error(void) { return last_error.c_str(); }

}  // extern "C"
