#pragma once
#include <string>
#include <string_view>

#include "monitor/recorder/recorder.hpp"

namespace dctx::monitor {

// A JSON object on one line: how the recording of this process stands now.
std::string status_line(const RecorderState& state);
std::string error_line(std::string_view text);

}  // namespace dctx::monitor
