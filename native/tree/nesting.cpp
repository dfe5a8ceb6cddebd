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
  Sweep(const EventColumns& events, int64_t tolerance_ns, const int32_t* preferred, Nesting& result)
      : events_(events), tolerance_ns_(tolerance_ns), preferred_(preferred), result_(result) {
    if (preferred != nullptr) placed_.assign(events.rows, false);
  }

  void run() {
    int32_t lane = 0;
    for (const uint32_t row : result_.order) {
      if (events_.lane[row] != lane) {
        close_until(std::numeric_limits<int64_t>::max());
        lane = events_.lane[row];
      }
      add(row);
      if (preferred_ != nullptr) prefer(row);
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
    if (found) attach(row, parent);
    open_.push(end, row);
  }

  void attach(uint32_t row, uint32_t parent) {
    result_.parent[row] = static_cast<int32_t>(parent);
    const int16_t depth = result_.depth[parent];
    const bool more = depth < std::numeric_limits<int16_t>::max();
    result_.depth[row] = static_cast<int16_t>(depth + (more ? 1 : 0));
  }

  void prefer(uint32_t row) {
    const int32_t known = preferred_[row];
    if (known >= 0 && known != result_.parent[row]) {
      const auto parent = static_cast<uint32_t>(known);
      if (placed_[parent] && holds(parent, row) && is_above(result_.parent[row], parent)) {
        attach(row, parent);
      }
    }
    placed_[row] = true;
  }

  bool holds(uint32_t outer, uint32_t row) const {
    return events_.lane[outer] == events_.lane[row] && events_.start[outer] <= events_.start[row] &&
           events_.end[row] - events_.end[outer] <= tolerance_ns_;
  }

  bool is_above(int32_t row, uint32_t lower) const {
    if (row < 0) return true;
    const int16_t depth = result_.depth[static_cast<size_t>(row)];
    int32_t at = static_cast<int32_t>(lower);
    while (at >= 0 && result_.depth[static_cast<size_t>(at)] > depth) {
      at = result_.parent[static_cast<size_t>(at)];
    }
    return at == row && static_cast<uint32_t>(row) != lower;
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
  const int32_t* preferred_;
  Nesting& result_;
  std::vector<bool> placed_;
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

Nesting nest(const EventColumns& events, const uint8_t* rank, int64_t tolerance_ns,
             const int32_t* preferred) {
  check_row_count(events.rows);
  check_intervals(events.start, events.end, events.rows);
  if (tolerance_ns < 0) throw std::invalid_argument("tolerance_ns is negative");
  for (size_t i = 0; preferred != nullptr && i < events.rows; ++i) {
    if (preferred[i] >= 0 && static_cast<size_t>(preferred[i]) >= events.rows) {
      throw std::invalid_argument("a preferred parent is no row");
    }
  }
  Nesting result;
  result.order = nesting_order(events, rank);
  result.parent.assign(events.rows, -1);
  result.depth.assign(events.rows, 0);
  result.self_ns.assign(events.rows, 0);
  Sweep(events, tolerance_ns, preferred, result).run();
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
