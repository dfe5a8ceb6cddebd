#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dctx {

// Numbers and sums of events by place and group. Memory grows with the pairs that occur, not with
// the events, and adding is cheap where events of one place follow each other.
class PlaceSums {
 public:
  // Groups are 0 to groups - 1; `values`: columns to sum.
  PlaceSums(size_t groups, size_t values);

  // Events with a negative place are left out. Throws std::invalid_argument for a group out of
  // range; events before it are added then.
  void add(const int32_t* place, const int32_t* group, const std::vector<const int64_t*>& values,
           size_t rows);

  // Columns of one length: by place, the groups of a place in the order of their first events.
  struct Columns {
    std::vector<int32_t> place;
    std::vector<int32_t> group;
    std::vector<int64_t> count;
    std::vector<std::vector<int64_t>> values;
  };
  // What was added, which is let go of.
  Columns take();

 private:
  struct Run {
    int32_t place;
    size_t begin;
  };

  void begin_run(int32_t place);
  size_t entry_of(int32_t group);
  void merge();
  size_t size() const { return group_.size(); }

  int32_t place_ = -1;
  std::vector<Run> runs_;
  std::vector<size_t> entry_of_;  // by group: its entry + 1; of the current run where it lies in it
  std::vector<int32_t> group_;
  std::vector<int64_t> count_;
  std::vector<std::vector<int64_t>> values_;
  size_t merged_ = 0;
};

}  // namespace dctx
