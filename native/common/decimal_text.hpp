#pragma once
#include <cstddef>
#include <string_view>

namespace dctx {

// Reads the decimal number that `text` begins with, a minus before it or none; returns how many
// bytes it takes, 0 when there is no number. `value`: the nearest double; infinite past the
// largest, 0 below the smallest.
size_t read_decimal(std::string_view text, double& value);

}  // namespace dctx
