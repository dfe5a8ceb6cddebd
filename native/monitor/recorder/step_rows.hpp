#pragma once
#include <vector>

#include "monitor/engine/step_log.hpp"

namespace dctx::monitor {

// Of a recording: few enough that the file does not grow with the run, so many that up to two
// hundred steps are told one by one.
constexpr size_t kMaxStepRows = 200;

// The spans, neighbours merged pairwise until they are few enough.
inline std::vector<StepSpan> merged_steps(std::vector<StepSpan> spans) {
  while (spans.size() > kMaxStepRows) {
    size_t kept = 0;
    for (size_t i = 0; i < spans.size(); i += 2, ++kept) {
      StepSpan span = spans[i];
      if (i + 1 < spans.size()) span.merge(spans[i + 1]);
      spans[kept] = span;
    }
    spans.resize(kept);
  }
  return spans;
}

}  // namespace dctx::monitor
