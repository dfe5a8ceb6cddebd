#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dctx {

// What threads did: borrowed columns of one length. Rank 0 counts before rank 1, and so on; a
// negative label is left out.
struct ThreadStates {
  const int32_t* lane;
  const int64_t* start;
  const int64_t* end;
  const uint8_t* rank;
  const int32_t* label;
  size_t rows;
};

// Spans to be explained by the states of their lane. Those of one (lane, group) are disjoint.
struct BlamedSpans {
  const int32_t* lane;
  const int32_t* group;
  const int32_t* key;
  const int64_t* start;
  const int64_t* end;
  size_t rows;
};

// Time by key and label; a key may have several rows of one label. Label -1: no state was open.
struct BlameRows {
  std::vector<int32_t> key;
  std::vector<int32_t> label;
  std::vector<int64_t> ns;
};

// At each instant of a span the open state of the lowest rank takes the time, of several the one
// that started last. The rows of a key sum to the length of its spans exactly.
BlameRows blame(const ThreadStates& states, const BlamedSpans& spans);

}  // namespace dctx
