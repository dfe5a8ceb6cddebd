#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dctx {

// Borrowed columns of events: lane, start and end of row i, all of length `rows`.
struct EventColumns {
  const int32_t* lane;
  const int64_t* start;
  const int64_t* end;
  size_t rows;
};

// Differences of times within ±kMaxTime cannot overflow.
constexpr int64_t kMaxTime = (int64_t{1} << 62) - 1;

// Throws std::invalid_argument naming the first row that ends before it starts or has a time
// beyond ±kMaxTime.
void check_intervals(const int64_t* start, const int64_t* end, size_t rows);

struct Nesting {
  std::vector<uint32_t> order;   // by (lane, start, end descending, rank, row)
  std::vector<int32_t> parent;   // row, -1 at the top
  std::vector<int16_t> depth;    // stops counting at 32767
  std::vector<int64_t> self_ns;  // while the event is the latest-started open one of its lane
  int64_t partial_overlaps = 0;
};

// `preferred` (may be null): a row that is known to be the parent, -1 where none. It takes the
// place of a parent that lies above it, when it is on the lane, comes earlier in `order` and holds
// the event within tolerance_ns.
Nesting nest(const EventColumns& events, const uint8_t* rank, int64_t tolerance_ns,
             const int32_t* preferred = nullptr);

// Row of the innermost event open at each point of a lane (start <= t < end), else -1.
std::vector<int32_t> locate(const Nesting& nesting, const EventColumns& events,
                            const int32_t* point_lane, const int64_t* point, size_t points);

}  // namespace dctx
