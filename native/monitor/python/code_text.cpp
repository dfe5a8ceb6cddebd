#include "monitor/python/code_text.hpp"

#include <cstring>
#include <string>
#include <string_view>

#include "monitor/engine/registry.hpp"
#include "tree/hash.hpp"

namespace dctx::monitor {
namespace {

constexpr std::string_view kOpening[] = {"/torch/autograd/profiler.py", "/torch/_ops.py"};
// torch.fx numbers the files of the code it generates; the number says nothing.
constexpr std::string_view kNumbered = "<eval_with_key>";

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

void append_code_point(std::string& out, uint32_t point) {
  if (point < 0x80) {
    out.push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    out.push_back(static_cast<char>(0xC0 | point >> 6));
    out.push_back(static_cast<char>(0x80 | (point & 0x3F)));
  } else if (point < 0x10000) {
    const bool surrogate = point >= 0xD800 && point < 0xE000;  // of a name that is no text
    if (surrogate) point = 0xFFFD;
    out.push_back(static_cast<char>(0xE0 | point >> 12));
    out.push_back(static_cast<char>(0x80 | (point >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (point & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | point >> 18));
    out.push_back(static_cast<char>(0x80 | (point >> 12 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (point >> 6 & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (point & 0x3F)));
  }
}

std::string text_of(PyObject* object) {
  std::string out;
  if (object == nullptr || !PyUnicode_Check(object)) return out;
  const Py_ssize_t length = PyUnicode_GET_LENGTH(object);
  const int kind = PyUnicode_KIND(object);
  const void* data = PyUnicode_DATA(object);
  out.reserve(static_cast<size_t>(length));
  for (Py_ssize_t i = 0; i < length; ++i) append_code_point(out, PyUnicode_READ(kind, data, i));
  return out;
}

}  // namespace

uint64_t unusual_text_fingerprint(PyObject* text) {
  if (text == nullptr || !PyUnicode_Check(text)) return 0;
  const size_t bytes =
      static_cast<size_t>(PyUnicode_GET_LENGTH(text)) * static_cast<size_t>(PyUnicode_KIND(text));
  const char* data = static_cast<const char*>(PyUnicode_DATA(text));
  uint64_t first = 0;
  uint64_t last = 0;
  if (bytes >= 8) {
    std::memcpy(&first, data, 8);
    std::memcpy(&last, data + bytes - 8, 8);
  } else {
    std::memcpy(&first, data, bytes);
  }
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  const uint64_t hash = (first ^ bytes * kFactor) * kFactor ^ last;
  return hash ^ hash >> 29;
}

CodeView describe_code(const PyCodeObject* code) {
  std::string file = text_of(code->co_filename);
  const std::string function = text_of(code->co_qualname);
  if (file.compare(0, kNumbered.size(), kNumbered) == 0) file.resize(kNumbered.size());
  ScopeRole role = ScopeRole::none;
  for (const std::string_view end : kOpening) {
    if (ends_with(file, end)) role = ScopeRole::opens;
  }
  if (ends_with(file, "/contextlib.py")) {
    if (ends_with(function, "__enter__")) role = ScopeRole::enters;
    if (function == "ContextDecorator.__call__.<locals>.inner") role = ScopeRole::wraps;
  }
  StringTable& strings = Registry::instance().strings();
  return {strings.intern(file), strings.intern(function), code->co_firstlineno, role};
}

}  // namespace dctx::monitor
