#include "tree/align_seekers.hpp"

#include <algorithm>

#include "tree/hash.hpp"

namespace dctx {
namespace {

constexpr size_t kMarks = size_t{1} << 21;

}  // namespace

void SeekerGroups::sort_common(Seekers& left, Seekers& right) {
  keep_common(left, right);
  keep_common(right, left);
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
}

void SeekerGroups::keep_common(const Seekers& of, Seekers& from) {
  common_.assign(kMarks, false);
  const auto mark = [](const Seeker& s) {
    return static_cast<size_t>(mix_bits(mix_bits(s.group) ^ s.key) % kMarks);
  };
  for (const Seeker& s : of) common_[mark(s)] = true;
  const auto alone = [&](const Seeker& s) { return !common_[mark(s)]; };
  from.erase(std::remove_if(from.begin(), from.end(), alone), from.end());
}

}  // namespace dctx
