#pragma once
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace dctx::monitor::gpu {

// Where the nodes of the program's graphs were made. Graphs are made and taken apart seldom: hooks
// may wait and allocate here, unlike those of launches.
class GraphNodes {
 public:
  static constexpr size_t kMaxNodes = size_t{1} << 20;  // work of others is charged to its launch

  // The node was made in `context`.
  void add(uint64_t node, uint64_t graph, uint64_t context);
  // The node was copied from `original`; false when that is not known.
  bool copy(uint64_t node, uint64_t graph, uint64_t original);
  // Forgotten after the next two calls of flushed(): records of it may still be on their way.
  void remove(uint64_t node);
  // The copies in this graph; what others may still be copied from stays.
  void remove_copies(uint64_t graph);
  // All records that were complete have been delivered.
  void flushed();
  bool find(uint64_t node, uint64_t* context);
  void clear();
  size_t size();
  std::mutex& mutex() { return mutex_; }

 private:
  struct Made {
    uint64_t context;
    uint64_t graph;
    bool copied;
    bool gone;
  };

  std::mutex mutex_;
  std::unordered_map<uint64_t, Made> made_;
  std::vector<uint64_t> leaving_;  // nodes that the next flushed() forgets
  std::vector<uint64_t> gone_;     // … and those that it makes the next ones
};

}  // namespace dctx::monitor::gpu
