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

  // Entries in blocks, so that none is ever moved: a group, and a row of its number and sums.
  class Entries {
   public:
    explicit Entries(size_t values) : width_(values + 1) {}
    size_t size() const { return size_; }
    void append(int32_t group);
    int32_t group(size_t entry) const { return blocks_[entry / kRows].group[entry % kRows]; }
    int64_t* row(size_t entry) {
      return blocks_[entry / kRows].sums.data() + entry % kRows * width_;
    }
    // Lets go of the block that ends with this entry.
    void release(size_t entry);
    bool ends_block(size_t entry) const { return entry % kRows == kRows - 1; }

   private:
    static constexpr size_t kRows = size_t{1} << 15;
    struct Block {
      std::vector<int32_t> group;
      std::vector<int64_t> sums;
    };
    size_t width_;
    size_t size_ = 0;
    std::vector<Block> blocks_;
  };

  void begin_run(int32_t place);
  size_t entry_of(int32_t group);
  void merge();
  size_t size() const { return entries_.size(); }

  size_t values_;
  int32_t place_ = -1;
  std::vector<Run> runs_;
  std::vector<size_t> entry_of_;  // by group: its entry + 1; of the current run where it lies in it
  Entries entries_;
  size_t merged_ = 0;
};

}  // namespace dctx
