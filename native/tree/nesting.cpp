#include "tree/nesting.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "tree/sort_order.hpp"

namespace dctx {
namespace {

struct Open {
  int64_t end;
  uint32_t row;
};

// The open events of a lane, latest start on top. Only those that can still matter are kept: an
// event that ends before a later-started one does can neither contain a later event that the
// other does not, nor be the latest-started open one again. So ends never grow towards the top,
// and every event is pushed and popped once.
class OpenStack {
 public:
  bool empty() const { return open_.empty(); }
  const Open& top() const { return open_.back(); }
  void pop() { open_.pop_back(); }
  void clear() { open_.clear(); }
  void push(int64_t end, uint32_t row) {
    drop_shorter(end);
    open_.push_back({end, row});
  }
  void drop_shorter(int64_t end) {
    while (!open_.empty() && open_.back().end < end) open_.pop_back();
  }

 private:
  std::vector<Open> open_;
};

std::vector<uint32_t> order_by_lane_and_start(const int32_t* lane, const int64_t* start,
                                              size_t rows) {
  return sort_order(KeyColumns{{{lane, IntType::I32}, {start, IntType::I64}}, rows});
}

// Parents before children: among equal starts the longest first, then by rank, then by row.
std::vector<uint32_t> nesting_order(const EventColumns& events, const uint8_t* rank) {
  std::vector<uint32_t> order = order_by_lane_and_start(events.lane, events.start, events.rows);
  const auto outer_first = [&](uint32_t a, uint32_t b) {
    if (events.end[a] != events.end[b]) return events.end[a] > events.end[b];
    if (rank[a] != rank[b]) return rank[a] < rank[b];
    return a < b;
  };
  for (size_t first = 0; first < events.rows;) {
    const uint32_t row = order[first];
    size_t last = first + 1;
    while (last < events.rows && events.start[order[last]] == events.start[row] &&
           events.lane[order[last]] == events.lane[row]) {
      ++last;
    }
    if (last - first > 1) std::sort(order.begin() + first, order.begin() + last, outer_first);
    first = last;
  }
  return order;
}

class Sweep {
 public:
  Sweep(const EventColumns& events, int64_t tolerance_ns, Nesting& result)
      : events_(events), tolerance_ns_(tolerance_ns), result_(result) {}

  void run() {
    int32_t lane = 0;
    for (const uint32_t row : result_.order) {
      if (events_.lane[row] != lane) {
        close_until(std::numeric_limits<int64_t>::max());
        lane = events_.lane[row];
      }
      add(row);
    }
    close_until(std::numeric_limits<int64_t>::max());
  }

 private:
  void add(uint32_t row) {
    const int64_t start = events_.start[row];
    const int64_t end = events_.end[row];
    close_until(start);
    if (!open_.empty()) result_.self_ns[open_.top().row] += start - cursor_;
    cursor_ = start;
    if (open_.empty()) {
      open_.push(end, row);
      return;
    }
    const Open outer = open_.top();
    uint32_t parent = outer.row;
    bool found = true;
    if (end > outer.end && !overhangs_little(start, end, outer.end)) {
      ++result_.partial_overlaps;
      open_.drop_shorter(end);
      found = !open_.empty();
      if (found) parent = open_.top().row;
    }
    if (found) {
      result_.parent[row] = static_cast<int32_t>(parent);
      const int16_t depth = result_.depth[parent];
      const bool more = depth < std::numeric_limits<int16_t>::max();
      result_.depth[row] = static_cast<int16_t>(depth + (more ? 1 : 0));
    }
    open_.push(end, row);
  }

  bool overhangs_little(int64_t start, int64_t end, int64_t outer_end) const {
    const int64_t inside = outer_end - start;
    const int64_t overhang = end - outer_end;
    return overhang <= tolerance_ns_ && inside >= overhang;
  }

  // Closes what ends by `time`, crediting the time since the cursor to the latest-started.
  void close_until(int64_t time) {
    while (!open_.empty() && open_.top().end <= time) {
      result_.self_ns[open_.top().row] += open_.top().end - cursor_;
      cursor_ = open_.top().end;
      open_.pop();
    }
  }

  const EventColumns& events_;
  const int64_t tolerance_ns_;
  Nesting& result_;
  OpenStack open_;
  int64_t cursor_ = 0;
};

}  // namespace

void check_intervals(const int64_t* start, const int64_t* end, size_t rows) {
  for (size_t i = 0; i < rows; ++i) {
    if (end[i] < start[i]) {
      throw std::invalid_argument("row " + std::to_string(i) + " ends before it starts");
    }
    if (start[i] < -kMaxTime || end[i] > kMaxTime) {
      throw std::invalid_argument("row " + std::to_string(i) + " has a time beyond 2^62 ns");
    }
  }
}

Nesting nest(const EventColumns& events, const uint8_t* rank, int64_t tolerance_ns) {
  check_row_count(events.rows);
  check_intervals(events.start, events.end, events.rows);
  if (tolerance_ns < 0) throw std::invalid_argument("tolerance_ns is negative");
  Nesting result;
  result.order = nesting_order(events, rank);
  result.parent.assign(events.rows, -1);
  result.depth.assign(events.rows, 0);
  result.self_ns.assign(events.rows, 0);
  Sweep(events, tolerance_ns, result).run();
  return result;
}

std::vector<int32_t> locate(const Nesting& nesting, const EventColumns& events,
                            const int32_t* point_lane, const int64_t* point, size_t points) {
  if (nesting.order.size() != events.rows) {
    throw std::invalid_argument("the nesting is of another number of events");
  }
  check_row_count(points);
  const std::vector<uint32_t> order = order_by_lane_and_start(point_lane, point, points);
  std::vector<int32_t> result(points, -1);
  OpenStack open;
  size_t next = 0;
  for (size_t i = 0; i < points; ++i) {
    const uint32_t p = order[i];
    const int32_t lane = point_lane[p];
    if (i > 0 && lane != point_lane[order[i - 1]]) open.clear();
    while (next < events.rows && events.lane[nesting.order[next]] < lane) ++next;
    for (; next < events.rows; ++next) {
      const uint32_t row = nesting.order[next];
      if (events.lane[row] != lane || events.start[row] > point[p]) break;
      open.push(events.end[row], row);
    }
    while (!open.empty() && open.top().end <= point[p]) open.pop();
    if (!open.empty()) result[p] = static_cast<int32_t>(open.top().row);
  }
  return result;
}

}  // namespace dctx
