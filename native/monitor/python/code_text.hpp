#pragma once
#include <Python.h>

#include <cstdint>

#include "monitor/engine/intern.hpp"

namespace dctx::monitor {

// Reads a code object without references and without the interpreter's lock: for code of a frame
// of the calling thread, which keeps it alive. The texts are read where they lie; nothing is cached
// in the interpreter's objects.

// Tells apart code objects that had the same address one after another.
uint64_t code_fingerprint(const PyCodeObject* code);
// Interns file and qualified name.
CodeView describe_code(const PyCodeObject* code);

}  // namespace dctx::monitor
