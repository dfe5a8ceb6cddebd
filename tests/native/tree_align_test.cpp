// Alignment of two trees.
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "tree/align.hpp"

using namespace dctx;

namespace {

using Ids = std::vector<int32_t>;

struct Tree {
  Ids parent, key;
  AlignTree view() const { return {parent.data(), key.data(), key.data(), parent.size()}; }
};

struct Names {
  explicit Names(size_t count) : layer(count, 0), kind(count, 0) {
    for (size_t i = 0; i < count; ++i) text.push_back("function_" + std::to_string(i * i * 7919));
  }
  // Names of all kinds, of operators and their kernels above all.
  static Names of_libraries(std::mt19937& random, size_t count) {
    const std::vector<std::string> words = {"batch", "Norm",   "relu", "fwd",
                                            "bwd",   "kernel", "::",   " "};
    Names names(0);
    for (size_t i = 0; i < count; ++i) {
      std::string name;
      for (size_t n = random() % 5; n-- > 0;) name += words[random() % words.size()] + "_";
      names.text.push_back(name);
      names.kind.push_back(static_cast<uint8_t>(i % 2 == 0 ? 4 : random() % kNodeKinds));
      names.layer.push_back(names.kind.back());
    }
    return names;
  }
  AlignNames view() const { return {&text, layer.data(), kind.data(), text.size()}; }
  TextData text;
  std::vector<uint8_t> layer, kind;
};

void wrapped_subtree_stands_below_the_common_caller() {
  const Tree base{{-1, 0, 1, 1}, {0, 1, 2, 3}};
  const Tree target{{-1, 0, 1, 2, 2}, {0, 4, 1, 2, 3}};  // 4 around 1
  const MergedTree merged = align_trees(base.view(), target.view(), Names(5).view());
  CHECK_EQUAL(merged.target, (Ids{0, 1, 2, 3, 4}));
  CHECK_EQUAL(merged.base, (Ids{0, -1, 1, 2, 3}));
  CHECK_EQUAL(merged.parent, (Ids{-1, 0, 0, 2, 2}));
  CHECK_EQUAL(merged.kind, (std::vector<uint8_t>{2, 1, 5, 2, 2}));
}

void a_lone_kernel_replaces_another_one_of_its_operator() {
  Names names(4);
  names.text = TextData();
  for (const char* text : {"aten::mm", "cudaLaunchKernel", "xmma_gemm", "Cijk_Ailk"}) {
    names.text.push_back(text);
  }
  names.layer = names.kind = {2, 3, 4, 4};
  const Tree base{{-1, 0, 1}, {0, 1, 2}}, target{{-1, 0, 1}, {0, 1, 3}};
  const auto kinds = [&] { return align_trees(base.view(), target.view(), names.view()).kind; };
  CHECK_EQUAL(kinds(), (std::vector<uint8_t>{2, 2, 6}));
  names.kind[0] = 0;  // a function of the program
  CHECK_EQUAL(kinds(), (std::vector<uint8_t>{2, 2, 1, 0}));
  names.kind[0] = 6;
  CHECK_THROWS(kinds(), std::invalid_argument);
}

void bad_names_are_refused() {
  const Tree tree{{-1}, {1}};
  CHECK_THROWS(align_trees(tree.view(), tree.view(), Names(1).view()), std::invalid_argument);
  const Tree cycle{{0}, {0}};
  CHECK_THROWS(align_trees(cycle.view(), cycle.view(), Names(1).view()), std::invalid_argument);
}

// Whatever the trees: every node has one row, parents come first, and roles do not matter.
void random_trees_merge_whole() {
  std::mt19937 random(5);
  const auto grow = [&] {
    Tree tree;
    const size_t size = random() % 60;
    for (size_t n = 0; n < size; ++n) {
      tree.parent.push_back(random() % 9 == 0 || n == 0 ? -1 : static_cast<int32_t>(random() % n));
      tree.key.push_back(static_cast<int32_t>(random() % 12));
    }
    return tree;
  };
  for (int round = 0; round < 500; ++round) {
    const Tree base = grow(), target = grow();
    const Names names = round % 2 == 0 ? Names(12) : Names::of_libraries(random, 12);
    const MergedTree merged = align_trees(base.view(), target.view(), names.view());
    const MergedTree turned = align_trees(target.view(), base.view(), names.view());
    Ids seen_base(base.parent.size(), 0), seen_target(target.parent.size(), 0);
    for (size_t row = 0; row < merged.base.size(); ++row) {
      if (merged.base[row] >= 0) ++seen_base[merged.base[row]];
      if (merged.target[row] >= 0) ++seen_target[merged.target[row]];
      CHECK(merged.parent[row] < static_cast<int32_t>(row));
      CHECK((merged.base[row] >= 0) || (merged.target[row] >= 0));
    }
    CHECK_EQUAL(seen_base, Ids(base.parent.size(), 1));
    CHECK_EQUAL(seen_target, Ids(target.parent.size(), 1));
    Ids partner(base.parent.size(), -1), back(base.parent.size(), -1);
    for (size_t row = 0; row < merged.base.size(); ++row) {
      if (merged.base[row] >= 0) partner[merged.base[row]] = merged.target[row];
      if (turned.target[row] >= 0) back[turned.target[row]] = turned.base[row];
    }
    CHECK_EQUAL(partner, back);
  }
}

}  // namespace

int main() {
  wrapped_subtree_stands_below_the_common_caller();
  a_lone_kernel_replaces_another_one_of_its_operator();
  bad_names_are_refused();
  random_trees_merge_whole();
  return dctx_test::report();
}
