#pragma once
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace dctx {

// A node without partner under the key by which it may find one.
struct Seeker {
  uint64_t group;
  uint64_t key;
  int32_t node;
  bool operator<(const Seeker& other) const {
    return std::tie(group, key, node) < std::tie(other.group, other.key, other.node);
  }
};

using Seekers = std::vector<Seeker>;
using SeekerRange = std::pair<const Seeker*, const Seeker*>;

// The last one of the same group and key, plus one.
inline size_t end_of_group(const Seekers& list, size_t i) {
  size_t end = i;
  while (end < list.size() && list[end].group == list[i].group && list[end].key == list[i].key) {
    ++end;
  }
  return end;
}

class SeekerGroups {
 public:
  // Sorts the seekers of both sides, without most of those that no other one of the same group and
  // key looks for: sorting is what takes the time.
  void sort_common(Seekers& left, Seekers& right);

 private:
  void keep_common(const Seekers& of, Seekers& from);

  std::vector<bool> common_;  // by mark of group and key
};

// Calls work(left, right) for the seekers of both (sorted) sides with the same group and key.
template <class Work>
void for_equal_groups(const Seekers& left, const Seekers& right, Work&& work) {
  for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    const size_t i_end = end_of_group(left, i), j_end = end_of_group(right, j);
    const auto l = std::tie(left[i].group, left[i].key);
    const auto r = std::tie(right[j].group, right[j].key);
    if (l == r) {
      work(SeekerRange{&left[i], left.data() + i_end},
           SeekerRange{&right[j], right.data() + j_end});
    }
    const bool take_left = !(r < l), take_right = !(l < r);
    if (take_left) i = i_end;
    if (take_right) j = j_end;
  }
}

}  // namespace dctx
