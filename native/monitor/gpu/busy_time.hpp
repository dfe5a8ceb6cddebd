#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dctx::monitor::gpu {

// When one device was busy: the union of its work, told piece by piece, nearly in order of time. Of
// the past it keeps so much as late records may overlap; what comes later still counts from there.
class BusyTime {
 public:
  static constexpr size_t kMaxParts = 8192;

  // Calls `fresh(begin, end)` for each part of the span that was not busy before, and is now.
  template <class Fresh>
  void add(int64_t begin_ns, int64_t end_ns, Fresh&& fresh) {
    begin_ns = std::max(begin_ns, forgotten_ns_);
    if (begin_ns >= end_ns) return;
    // The parts that touch the span become one with it.
    const auto first =
        std::lower_bound(parts_.begin(), parts_.end(), begin_ns,
                         [](const Part& part, int64_t at) { return part.end_ns < at; });
    auto last = first;
    Part whole{begin_ns, end_ns};
    int64_t at = begin_ns;
    for (; last != parts_.end() && last->begin_ns <= end_ns; ++last) {
      if (at < last->begin_ns) fresh(at, last->begin_ns);
      at = std::max(at, last->end_ns);
      whole.begin_ns = std::min(whole.begin_ns, last->begin_ns);
      whole.end_ns = std::max(whole.end_ns, last->end_ns);
    }
    if (at < end_ns) fresh(at, end_ns);
    if (first == last) {
      parts_.insert(first, whole);
    } else {
      *first = whole;
      parts_.erase(first + 1, last);
    }
    if (parts_.size() > kMaxParts) forget();
  }

 private:
  struct Part {
    int64_t begin_ns;
    int64_t end_ns;
  };

  void forget() {
    const auto kept = parts_.begin() + static_cast<std::ptrdiff_t>(kMaxParts / 2);
    forgotten_ns_ = (kept - 1)->end_ns;
    parts_.erase(parts_.begin(), kept);
  }

  std::vector<Part> parts_;  // apart from each other, in order
  int64_t forgotten_ns_ = INT64_MIN;
};

}  // namespace dctx::monitor::gpu
