#pragma once
#include <cstddef>
#include <cstdint>

namespace dctx::monitor {

// CRC-32C (Castagnoli) of `size` bytes; `before` is that of the bytes before them.
uint32_t crc32c(const void* data, size_t size, uint32_t before = 0);

}  // namespace dctx::monitor
