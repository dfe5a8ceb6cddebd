#pragma once
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace dctx {

// One metric of the nodes of a tree: borrowed.
using MetricColumn = std::variant<const int64_t*, const double*>;

struct BottomUp {
  std::vector<int32_t> parent;  // -1 for the roots; parents precede children
  std::vector<int32_t> frame;
  std::vector<int16_t> depth;  // stops counting at 32767
  std::vector<int32_t> source;
  std::vector<std::variant<std::vector<int64_t>, std::vector<double>>> values;
  bool truncated = false;
};

// Turns a tree over, level by level: roots are the frames that cost something themselves,
// children their callers. A node's exclusive cost goes to one root and to one caller per level,
// so callers partition their callee's cost, save what came from the top of the tree.
BottomUp bottom_up(const int32_t* parent, const int32_t* frame, size_t nodes,
                   const std::vector<MetricColumn>& exclusive, size_t max_nodes);

}  // namespace dctx
