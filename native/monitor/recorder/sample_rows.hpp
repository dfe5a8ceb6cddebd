#pragma once
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "monitor/gpu/samples/sample_table.hpp"

namespace dctx::monitor {

// Turns samples of instructions into chunks, each time only what is new, with the code that they
// are of.
class SampleWriter {
 public:
  // Rows that changed since the last call.
  std::vector<gpu::SampleRow> changed();
  // The content of a PCS chunk.
  static std::string content(const std::vector<gpu::SampleRow>& rows);
  // The content of a CUBN chunk: code of these rows that was not written yet; empty when there is
  // none.
  std::string new_code(const std::vector<gpu::SampleRow>& rows);

 private:
  std::vector<uint64_t> seen_;            // samples by row
  std::unordered_set<uint64_t> written_;  // code, by its check sum
};

}  // namespace dctx::monitor
