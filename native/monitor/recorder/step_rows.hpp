#pragma once
#include <algorithm>
#include <vector>

#include "monitor/engine/step_log.hpp"

namespace dctx::monitor {

constexpr size_t kMaxStepRows = 128;  // of a recording: its size does not grow with the run

// The spans, neighbours merged pairwise until they are few enough.
inline std::vector<StepSpan> merged_steps(std::vector<StepSpan> spans) {
  while (spans.size() > kMaxStepRows) {
    size_t kept = 0;
    for (size_t i = 0; i < spans.size(); i += 2, ++kept) {
      StepSpan span = spans[i];
      if (i + 1 < spans.size()) {
        span.count += spans[i + 1].count;
        span.end_ns = spans[i + 1].end_ns;
        span.longest_ns = std::max(span.longest_ns, spans[i + 1].longest_ns);
      }
      spans[kept] = span;
    }
    spans.resize(kept);
  }
  return spans;
}

}  // namespace dctx::monitor
