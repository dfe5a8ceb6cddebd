#pragma once
#include <Python.h>

#include <cstdint>
#include <cstring>

#include "monitor/engine/intern.hpp"

namespace dctx::monitor {

// Reads a code object without references and without the interpreter's lock: for code of a frame
// of the calling thread, which keeps it alive. The texts are read where they lie; nothing is cached
// in the interpreter's objects.

// Length and the first and last eight bytes of a text that is not in the usual form.
uint64_t unusual_text_fingerprint(PyObject* text);

// The same of any text. `a`, `b`, `c`: odd factors.
inline uint64_t text_fingerprint(PyObject* text, uint64_t a, uint64_t b, uint64_t c) {
  const auto* const ascii = reinterpret_cast<const PyASCIIObject*>(text);
  if (ascii->state.compact == 0 || ascii->state.ascii == 0 || ascii->length < 8) {
    return unusual_text_fingerprint(text) * a;
  }
  const char* const data = reinterpret_cast<const char*>(ascii + 1);
  const auto length = static_cast<uint64_t>(ascii->length);
  uint64_t first;
  uint64_t last;
  std::memcpy(&first, data, 8);
  std::memcpy(&last, data + length - 8, 8);
  return first * a + last * b + length * c;
}

// Tells apart code objects that had the same address one after another: their number where the
// interpreter gives them one, else file, name and first line. Products that do not wait for each
// other: it is asked of every frame at every event.
inline uint64_t code_fingerprint(const PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030C0000
  if (code->co_version != 0) return code->co_version;
#endif
  return text_fingerprint(code->co_filename, 0xd6e8feb86659fd93ULL, 0xa0761d6478bd642fULL,
                          0xe7037ed1a0b428dbULL) +
         text_fingerprint(code->co_qualname, 0x8ebc6af09c88c6e3ULL, 0x589965cc75374cc3ULL,
                          0x1d8e4e27c47d124fULL) +
         static_cast<uint32_t>(code->co_firstlineno) * 0xeb44accab455d165ULL;
}
// Interns file and qualified name.
CodeView describe_code(const PyCodeObject* code);

}  // namespace dctx::monitor
