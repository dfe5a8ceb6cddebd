#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dctx::monitor {

// What torch puts into the text of a range: `aten::addmm, seq = 111, op_id = 6`. Either number may
// be missing.
struct NvtxText {
  std::string_view name;
  int64_t sequence = -1;
};
NvtxText parse_nvtx(std::string_view text);

// Operators as ranges of NVTX, for a torch whose own callbacks cannot be used. NVTX loads this
// library a second time, by its name, when torch first pushes a range.
class TorchNvtx {
 public:
  // Whether a library has taken our functions for its ranges.
  static bool installed();
  // Ranges become operators and scopes from now on, or no longer.
  static void listen(bool on);
  // The calling thread's ranges are noted, not recorded, until end_probe() gives their texts.
  static void begin_probe();
  static std::vector<std::string> end_probe();
};

}  // namespace dctx::monitor
