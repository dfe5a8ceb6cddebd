#pragma once
#include <memory>

#include "common/text.hpp"

namespace dctx {

// The Python-visible TextColumn and StringPool both own their texts through a shared pointer, so
// that a stream handed to DuckDB keeps them alive without touching Python.
struct TextColumn {
  std::shared_ptr<const TextData> data;
};

}  // namespace dctx
