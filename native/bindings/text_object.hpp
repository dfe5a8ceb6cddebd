#pragma once
#include <memory>

#include "common/text.hpp"

namespace dctx {

// The Python-visible TextColumn: its texts are shared, so that a stream handed to DuckDB keeps them
// alive without touching Python.
struct TextColumn {
  std::shared_ptr<const TextData> data;
};

}  // namespace dctx
