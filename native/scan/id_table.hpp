#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace dctx::scan {

// Dense ids, as writers use them, in a flat table; the others in a map.
class IdTable {
 public:
  static constexpr int32_t kNone = -1;

  void set(uint64_t id, int32_t row) {
    if (id >= kFlat) {
      far_[id] = row;
      return;
    }
    if (id >= flat_.size()) flat_.resize(id + 1, kNone);
    flat_[id] = row;
  }
  int32_t find(uint64_t id) const {
    if (id < flat_.size()) return flat_[id];
    const auto found = far_.find(id);
    return found == far_.end() ? kNone : found->second;
  }

 private:
  static constexpr uint64_t kFlat = 1 << 16;
  std::vector<int32_t> flat_;
  std::unordered_map<uint64_t, int32_t> far_;
};

}  // namespace dctx::scan
