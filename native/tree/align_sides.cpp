#include "tree/align_sides.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "tree/hash.hpp"
#include "tree/stats.hpp"

namespace dctx {

AlignSide::AlignSide(const AlignTree& given, const AlignNames& names)
    : tree(given),
      first(given.size + 2, 0),
      children(given.size),
      place(given.size + 1, -1),
      last(given.size + 1),
      order(given.size),
      hash(given.size, 0),
      partner(given.size + 1, -1),
      replaced(given.size, false) {
  check_row_count(tree.size);
  check_parents(tree.parent, tree.size);
  std::vector<int32_t> below(tree.size, 1);
  for (size_t n = tree.size; n-- > 0;) {
    const int32_t name = tree.name[n];
    if (name < 0 || static_cast<size_t>(name) >= names.size) {
      throw std::invalid_argument("name: not a row of the names");
    }
    if (names.kind[name] >= kNodeKinds) throw std::invalid_argument("kind: not a kind of nodes");
    hash[n] = mix_bits(hash[n] + static_cast<uint64_t>(name) + 1);
    ++first[parent(static_cast<int32_t>(n)) + 1];
    if (tree.parent[n] < 0) continue;
    below[tree.parent[n]] += below[n];
    hash[tree.parent[n]] += mix_bits(hash[n] ^ 0x9e3779b97f4a7c15ULL);
  }
  for (size_t n = 1; n < first.size(); ++n) first[n] += first[n - 1];
  std::vector<int32_t> cursor(first.begin(), first.end() - 1);
  std::vector<int32_t> next(tree.size + 1, 0);  // place of the next child
  for (size_t n = 0; n < tree.size; ++n) {
    const int32_t above = parent(static_cast<int32_t>(n));
    children[cursor[above]++] = static_cast<int32_t>(n);
    place[n] = next[above];
    last[n] = place[n] + below[n] - 1;
    order[place[n]] = static_cast<int32_t>(n);
    next[above] += below[n];
    next[n] = place[n] + 1;
  }
  last[tree.size] = static_cast<int32_t>(tree.size) - 1;
}

std::vector<int32_t> AlignSide::unpaired(int32_t node) const {
  std::vector<int32_t> found;
  for (const int32_t* c = children_begin(node); c != children_end(node); ++c) {
    if (partner[*c] < 0) found.push_back(*c);
  }
  return found;
}

std::vector<uint32_t> AlignSide::names_below(int32_t node) const {
  constexpr int32_t kEnough = 64;
  std::vector<uint32_t> found;
  const int32_t end = std::min(last[node], place[node] + kEnough);
  for (int32_t at = place[node] + 1; at <= end; ++at) {
    found.push_back(static_cast<uint32_t>(tree.name[order[at]]));
  }
  std::sort(found.begin(), found.end());
  return found;
}

double dice(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  if (a.empty() && b.empty()) return 1;
  size_t common = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) ++common;
    const bool left = a[i] <= b[j], right = b[j] <= a[i];
    i += left ? 1 : 0;
    j += right ? 1 : 0;
  }
  return 2.0 * static_cast<double>(common) / static_cast<double>(a.size() + b.size());
}

double NameSimilarity::operator()(int32_t a, int32_t b) {
  return a == b ? 1 : dice(grams(a), grams(b));
}

const std::vector<uint32_t>& NameSimilarity::grams(int32_t name) {
  constexpr size_t kLongest = 256;  // the arguments of templates may go on for kilobytes
  std::vector<uint32_t>& found = grams_[name];
  if (!found.empty()) return found;
  const std::string_view text = (*names_.text)[name].substr(0, kLongest);
  uint32_t gram = 0;  // with two letters before the first one
  for (const char letter : text) {
    gram = ((gram << 8) | static_cast<unsigned char>(letter)) & 0xffffffU;
    found.push_back(gram);
  }
  found.push_back(0);
  std::sort(found.begin(), found.end());
  return found;
}

bool comes_first(const AlignTree& a, const AlignTree& b) {
  if (a.size != b.size) return a.size < b.size;
  for (const auto column : {&AlignTree::parent, &AlignTree::key, &AlignTree::name}) {
    const auto [x, y] = std::mismatch(a.*column, a.*column + a.size, b.*column);
    if (x != a.*column + a.size) return *x < *y;
  }
  return true;
}

}  // namespace dctx
