// Visible rows of a tree, and the tree turned over.
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "tree/bottom_up.hpp"
#include "tree/tree_model.hpp"

using namespace dctx;

namespace {

using Ids = std::vector<int32_t>;

Ids all_rows(const TreeModel& model) { return model.rows(0, model.row_count()); }

//  0 ─ 1 ─ 2
//    │   └ 3
//    └ 4
//  5
const Ids kParent{-1, 0, 1, 1, 0, -1};

void expanding() {
  TreeModel model(kParent);
  CHECK_EQUAL(all_rows(model), (Ids{0, 5}));
  model.expand(1);  // not visible yet
  CHECK_EQUAL(all_rows(model), (Ids{0, 5}));
  model.expand(0);
  CHECK_EQUAL(all_rows(model), (Ids{0, 1, 2, 3, 4, 5}));
  CHECK_EQUAL(model.row_of(4), int64_t{4});
  model.collapse(0);
  CHECK_EQUAL(model.row_of(4), int64_t{-1});
  CHECK(model.is_expanded(1));
  model.collapse_all();
  model.reveal(3);
  CHECK_EQUAL(all_rows(model), (Ids{0, 1, 2, 3, 4, 5}));
  model.collapse_all();
  model.expand_subtree(0);
  CHECK_EQUAL(all_rows(model), (Ids{0, 1, 2, 3, 4, 5}));
  model.expand(5);
  CHECK(!model.is_expanded(5));
  CHECK(!model.has_children(5));
  CHECK_EQUAL(model.rows(4, 99), (Ids{4, 5}));
  CHECK_EQUAL(model.rows(99, 1), Ids{});
  CHECK_THROWS(model.expand(6), std::invalid_argument);
  CHECK_THROWS(model.row_of(-1), std::invalid_argument);
  CHECK_THROWS(TreeModel(Ids{0}), std::invalid_argument);
  CHECK_EQUAL(TreeModel(Ids{}).row_count(), size_t{0});
}

void ordering() {
  TreeModel model(kParent);
  model.expand_all();
  const std::vector<int64_t> key{1, 5, 2, 2, 9, 7};
  model.set_order(key.data(), true);
  CHECK_EQUAL(all_rows(model), (Ids{5, 0, 4, 1, 2, 3}));
  model.set_order(key.data(), false);
  CHECK_EQUAL(all_rows(model), (Ids{0, 1, 2, 3, 4, 5}));
  const double nan = std::nan("");
  const std::vector<double> number{nan, 0.0, 1, -1, -0.0, -3};
  model.set_order(number.data(), true);
  CHECK_EQUAL(all_rows(model), (Ids{5, 0, 1, 2, 3, 4}));
  model.set_order(number.data(), false);
  CHECK_EQUAL(all_rows(model), (Ids{5, 0, 1, 3, 2, 4}));
}

void filtering() {
  TreeModel model(kParent);
  const std::vector<uint8_t> match{0, 0, 0, 1, 0, 0};
  model.set_filter(match.data());
  CHECK_EQUAL(all_rows(model), (Ids{0, 1, 3}));
  CHECK(!model.has_children(3));
  CHECK_EQUAL(model.children(0), (Ids{1}));
  model.collapse(1);
  CHECK_EQUAL(all_rows(model), (Ids{0, 1}));
  const std::vector<uint8_t> other{0, 1, 0, 0, 0, 0};
  model.set_filter(other.data());
  CHECK_EQUAL(all_rows(model), (Ids{0, 1}));
  model.expand(1);
  CHECK_EQUAL(all_rows(model), (Ids{0, 1, 2, 3}));
  model.set_filter(nullptr);
  CHECK_EQUAL(all_rows(model), (Ids{0, 5}));
  const std::vector<uint8_t> none(6, 0);
  model.set_filter(none.data());
  CHECK_EQUAL(all_rows(model), Ids{});
}

void hot_paths() {
  const TreeModel model(kParent);
  const std::vector<int64_t> key{10, 6, 3, 3, 4, 0};
  CHECK_EQUAL(model.hot_path(0, key.data(), 0.5), (Ids{0, 1, 2}));
  CHECK_EQUAL(model.hot_path(0, key.data(), 0.55), (Ids{0, 1}));
  CHECK_EQUAL(model.hot_path(5, key.data(), 0.5), (Ids{5}));
  const std::vector<double> zero(6, 0.0);
  CHECK_EQUAL(model.hot_path(0, zero.data(), 0.5), (Ids{0}));
}

void deep_tree() {
  const size_t nodes = 100'000;
  Ids chain(nodes);
  std::iota(chain.begin(), chain.end(), -1);
  TreeModel model(chain);
  model.expand_all();
  CHECK_EQUAL(model.row_count(), nodes);
  model.collapse(5);
  CHECK_EQUAL(model.row_count(), size_t{6});
  model.expand_subtree(0);
  CHECK_EQUAL(model.row_of(99'999), int64_t{99'999});
  std::vector<int64_t> key(nodes, 1);
  CHECK_EQUAL(model.hot_path(0, key.data(), 0.5).size(), nodes);

  const Ids one_frame(nodes, 0);
  const BottomUp bottom = bottom_up(chain.data(), one_frame.data(), nodes, {key.data()}, 50);
  CHECK(bottom.truncated);
  CHECK_EQUAL(bottom.parent.size(), size_t{50});
}

void turned_over() {
  // main > f > g, main > g, g > f: f and g call each other.
  const Ids parent{-1, 0, 1, 0, 3};
  const Ids frame{0, 1, 2, 2, 1};
  const std::vector<int64_t> cost{0, 1, 2, 3, 4};
  const std::vector<double> other{0, 0, 0, 0.5, 0};
  const BottomUp up = bottom_up(parent.data(), frame.data(), 5, {cost.data(), other.data()}, 1000);
  CHECK_EQUAL(up.parent, (Ids{-1, -1, 0, 1, 1, 0, 3, 5}));
  CHECK_EQUAL(up.frame, (Ids{1, 2, 0, 1, 0, 2, 0, 0}));
  CHECK_EQUAL(up.depth, (std::vector<int16_t>{0, 0, 1, 1, 1, 1, 2, 2}));
  CHECK_EQUAL(up.source, (Ids{4, 3, 0, 1, 0, 3, 0, 0}));
  CHECK_EQUAL(std::get<0>(up.values[0]), (std::vector<int64_t>{5, 5, 1, 2, 3, 4, 2, 4}));
  CHECK_EQUAL(std::get<1>(up.values[1]), (std::vector<double>{0, 0.5, 0, 0, 0.5, 0, 0, 0}));
  CHECK(!up.truncated);
  const BottomUp short_list =
      bottom_up(parent.data(), frame.data(), 5, {cost.data(), other.data()}, 5);
  CHECK_EQUAL(short_list.parent.size(), size_t{2});
  CHECK(short_list.truncated);
  CHECK(bottom_up(parent.data(), frame.data(), 5, {}, 5).parent.empty());
}

}  // namespace

int main() {
  expanding();
  ordering();
  filtering();
  hot_paths();
  deep_tree();
  turned_over();
  return dctx_test::report();
}
