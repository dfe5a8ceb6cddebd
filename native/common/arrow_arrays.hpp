#pragma once
#include <cstddef>
#include <memory>

#include "common/arrow_stream.hpp"

namespace dctx {

// Rows [first, first + length) of the table as a struct array that owns what it needs of them.
// Throws std::bad_alloc; then `out` is released.
void export_batch(const std::shared_ptr<const StreamTable>& table, size_t first, size_t length,
                  ArrowArray* out);

}  // namespace dctx
