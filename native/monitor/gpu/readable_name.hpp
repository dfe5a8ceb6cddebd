#pragma once
#include <string>
#include <string_view>

namespace dctx::monitor::gpu {

// A mangled name as it stands in the source; others as they are.
std::string readable_name(std::string_view name);

}  // namespace dctx::monitor::gpu
