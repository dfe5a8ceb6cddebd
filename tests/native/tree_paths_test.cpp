// Strings, nesting, the calling context tree.
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "check.hpp"
#include "tree/name_key.hpp"
#include "tree/nesting.hpp"
#include "tree/pairing.hpp"
#include "tree/path_tree.hpp"
#include "tree/string_pool.hpp"

using namespace dctx;

namespace {

using Ids = std::vector<int32_t>;
using Times = std::vector<int64_t>;

void name_keys() {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"aten::mul, op_id = 990726", "aten::mul, op_id = #"},
      {"buffer 0x7f3A90 of 0x0", "buffer # of #"},
      {"layer12 Block3 sublayer_4 rank0", "layer# Block# sublayer_# rank#"},
      {"sm90_xmma fp8 bf16 step#3", "sm90_xmma fp8 bf16 step#"},
      {"0xyz 12.5 x1y2", "#xyz #.# x1y2"},
      {"schritt\xc3\xa4"
       "7 \xe6\xad\xa5"
       "12",
       "schritt\xc3\xa4# \xe6\xad\xa5#"},
      {"##", "#"},
      {"0x", "#x"},
      {"", ""},
  };
  std::string key;
  for (const auto& [text, expected] : cases) {
    name_key(text, key);
    CHECK_EQUAL(key, expected);
    std::string again;
    name_key(key, again);
    CHECK_EQUAL(again, key);
  }
}

void string_pool() {
  StringPool pool;
  for (int i = 0; i < 5000; ++i) CHECK_EQUAL(pool.intern("text" + std::to_string(i)), i);
  const auto before = pool.texts();
  CHECK_EQUAL(pool.intern("text4321"), 4321);
  CHECK_EQUAL(pool.intern("step 5"), 5000);
  CHECK_EQUAL(before->size(), size_t{5000});  // what is held does not change
  CHECK_EQUAL(pool.text(5000), std::string("step 5"));
  CHECK_THROWS(pool.text(5001), std::out_of_range);
  TextData column;
  column.push_back("step 6");
  column.push_null();
  column.push_back("text7");
  CHECK_EQUAL(pool.intern_column(column), (Ids{5001, -1, 7}));
  const Times rows{2, -1, 1, 0};
  CHECK_EQUAL(pool.intern_rows(column, rows.data(), 4), (Ids{7, -1, -1, 5001}));
  const Times beyond{3};
  CHECK_THROWS(pool.intern_rows(column, beyond.data(), 1), std::invalid_argument);
  const Ids ids{5000, -1, 5001, 7};
  CHECK_EQUAL(pool.name_keys(ids.data(), 4), (Ids{5002, -1, 5002, 7}));
  const Ids unknown{9999};
  CHECK_THROWS(pool.name_keys(unknown.data(), 1), std::invalid_argument);
}

void pool_shared_by_threads() {
  StringPool pool;
  const auto intern_all = [&](Ids& ids) {
    for (int i = 0; i < 3000; ++i) {
      ids.push_back(pool.intern("text" + std::to_string(i)));
      const auto held = pool.texts();  // makes the next new text copy the pool
      if (i % 100 == 0) CHECK_EQUAL((*held)[0], std::string_view("text0"));
    }
  };
  Ids first, second;
  std::thread other([&] { intern_all(first); });
  intern_all(second);
  other.join();
  CHECK(first == second);
  CHECK_EQUAL(pool.size(), size_t{3000});
}

struct Events {
  Ids lane;
  Times start;
  Times end;
  std::vector<uint8_t> rank;

  void add(int32_t l, int64_t s, int64_t e, uint8_t r = 0) {
    lane.push_back(l);
    start.push_back(s);
    end.push_back(e);
    rank.push_back(r);
  }
  EventColumns columns() const { return {lane.data(), start.data(), end.data(), lane.size()}; }
  Nesting nest(int64_t tolerance_ns = 0) const {
    return dctx::nest(columns(), rank.data(), tolerance_ns);
  }
};

void nesting() {
  Events events;
  events.add(3, 2, 7);  // outlives the event open: goes to the one that holds it
  events.add(3, 0, 10);
  events.add(3, 1, 5);
  events.add(3, 2, 7, 1);  // equal interval, higher rank: inside
  events.add(3, 4, 4);     // no length
  events.add(3, 8, 12);    // nothing holds it
  events.add(-1, 4, 6);    // another lane
  const Nesting nesting = events.nest();
  CHECK_EQUAL(nesting.order, (std::vector<uint32_t>{6, 1, 2, 0, 3, 4, 5}));
  CHECK_EQUAL(nesting.parent, (Ids{1, -1, 1, 0, 3, -1, -1}));
  CHECK_EQUAL(nesting.depth, (std::vector<int16_t>{1, 0, 1, 2, 3, 0, 0}));
  CHECK_EQUAL(nesting.self_ns, (Times{0, 2, 1, 5, 0, 4, 2}));
  CHECK_EQUAL(nesting.partial_overlaps, int64_t{2});

  const Ids lanes{3, 3, 3, 3, 3, 3, -1, -1, 0};
  const Times points{0, 4, 7, 11, 12, -1, 3, 5, 5};
  CHECK_EQUAL(locate(nesting, events.columns(), lanes.data(), points.data(), lanes.size()),
              (Ids{1, 3, 1, 5, -1, -1, -1, 6, -1}));
  Events ends_together;
  ends_together.add(0, 0, 10);
  ends_together.add(0, 1, 5);
  ends_together.add(0, 2, 10);  // outlives the second, ends with the first
  CHECK_EQUAL(ends_together.nest().parent, (Ids{-1, 0, 0}));

  Events other;
  CHECK_THROWS(locate(nesting, other.columns(), nullptr, nullptr, 0), std::invalid_argument);
}

void tolerance() {
  Events events;
  events.add(0, 0, 100);
  events.add(0, 10, 50);
  events.add(0, 40, 55);   // overhangs by 5, 10 of 15 inside
  events.add(0, 97, 104);  // overhangs by 4, 3 of 7 inside
  CHECK_EQUAL(events.nest(0).parent, (Ids{-1, 0, 0, -1}));
  const Nesting tolerant = events.nest(5);
  CHECK_EQUAL(tolerant.parent, (Ids{-1, 0, 1, -1}));
  CHECK_EQUAL(tolerant.partial_overlaps, int64_t{1});
  CHECK_EQUAL(tolerant.self_ns, (Times{52, 30, 15, 7}));
  CHECK_THROWS(events.nest(-1), std::invalid_argument);
}

// Each event outlives the one before: a search down the stack would be quadratic.
void staircase_is_linear() {
  Events events;
  const int64_t n = 1'000'000;
  for (int64_t i = 0; i < n; ++i) events.add(0, i, i + n);
  const Nesting nesting = events.nest();
  CHECK_EQUAL(nesting.partial_overlaps, n - 1);
  CHECK_EQUAL(nesting.self_ns.front(), int64_t{1});
  CHECK_EQUAL(nesting.self_ns.back(), n);
}

void deep_nesting() {
  Events events;
  const int64_t n = 100'000;
  for (int64_t i = 0; i < n; ++i) events.add(0, i, 2 * n - i);
  const Nesting nesting = events.nest();
  CHECK_EQUAL(nesting.depth.back(), std::numeric_limits<int16_t>::max());
  CHECK_EQUAL(nesting.parent.back(), static_cast<int32_t>(n - 2));
}

void bad_events() {
  Events backwards;
  backwards.add(0, 5, 4);
  CHECK_THROWS(backwards.nest(), std::invalid_argument);
  Events far;
  far.add(0, std::numeric_limits<int64_t>::min(), 0);
  CHECK_THROWS(far.nest(), std::invalid_argument);
  CHECK(Events().nest().order.empty());
}

void path_tree() {
  PathTree tree;
  const int32_t root = tree.frame(0, 0, -1, -1);
  const int32_t a = tree.frame(3, 1, -1, -1);
  const int32_t b = tree.frame(3, 1, 5, 7);
  CHECK_EQUAL(root, 0);
  CHECK_EQUAL(tree.frame(3, 1, 5, 7), b);
  CHECK(a != b);
  const Ids parents{0, 0, -1, 0};
  const Ids frames{a, b, -9, a};
  CHECK_EQUAL(tree.extend(parents.data(), frames.data(), 4), (Ids{1, 2, -1, 1}));
  CHECK_EQUAL(tree.child(1, b), 3);
  CHECK_THROWS(tree.child(4, b), std::invalid_argument);
  CHECK_THROWS(tree.child(0, 3), std::invalid_argument);
  const Ids bad{7};
  CHECK_THROWS(tree.extend(bad.data(), frames.data(), 1), std::invalid_argument);
  CHECK_EQUAL(tree.renumber(), (Ids{0, 1, 3, 2}));
  CHECK_EQUAL(tree.parent(), (Ids{-1, 0, 1, 0}));
  CHECK_EQUAL(tree.node_frame(), (Ids{0, a, b, b}));
  CHECK_EQUAL(tree.last(), (Ids{3, 2, 2, 3}));
  CHECK_EQUAL(tree.depth(), (std::vector<int16_t>{0, 1, 2, 1}));
  CHECK_THROWS(tree.child(0, a), std::logic_error);
  CHECK_THROWS(tree.renumber(), std::logic_error);
}

void chains() {
  PathTree tree;
  for (int32_t name = 0; name < 4; ++name) tree.frame(4, name, -1, -1);
  const Times offsets{0, 2, 2, 3};
  const Ids chain_frames{1, 2, 3};
  const ChainColumns chains{offsets.data(), 3, chain_frames.data(), 3};
  const Ids base{0, 0, -1, 0, 0, 0};
  const Ids chain{0, 1, 0, -1, 2, 0};
  const Ids nodes = tree.extend_chains(base.data(), chain.data(), 6, chains);
  CHECK_EQUAL(nodes, (Ids{2, 0, -1, 0, 3, 2}));
  CHECK_EQUAL(tree.size(), size_t{4});

  Events events;
  events.add(0, 0, 10);
  events.add(0, 1, 2);
  const Nesting nesting = events.nest();
  const Ids frames{3, 3};
  const Ids roots{0, 0};
  const Ids event_chain{-1, 0};
  // Node 3 is root > 3 already; the inner event hangs below it by the frames 1 and 2.
  CHECK_EQUAL(tree.extend_nested(nesting, frames.data(), roots.data(), event_chain.data(), chains),
              (Ids{3, 6}));
  CHECK_EQUAL(tree.parent(), (Ids{-1, 0, 1, 0, 3, 4, 5}));

  const Ids unknown{3};
  CHECK_THROWS(tree.extend_chains(base.data(), unknown.data(), 1, chains), std::invalid_argument);
  const Times descending{0, 3, 2, 3};
  CHECK_THROWS(tree.extend_chains(base.data(), chain.data(), 1,
                                  {descending.data(), 3, chain_frames.data(), 3}),
               std::invalid_argument);
  CHECK_THROWS(
      tree.extend_chains(base.data(), chain.data(), 1, {offsets.data(), 3, chain_frames.data(), 2}),
      std::invalid_argument);
}

void anchors() {
  Events events;
  events.add(0, 50, 90);  // hangs below the event of the other lane, which comes later
  events.add(0, 60, 70);
  events.add(1, 0, 40);
  const Nesting nesting = events.nest();
  PathTree tree;
  for (int32_t name = 0; name < 5; ++name) tree.frame(4, name, -1, -1);
  const ChainColumns none{nullptr, 0, nullptr, 0};
  const Ids frames{2, 3, 4};
  const Ids roots{0, 0, 0};
  const Ids anchor{2, -1, -1};
  CHECK_EQUAL(
      tree.extend_nested(nesting, frames.data(), roots.data(), nullptr, none, anchor.data(), 1),
      (Ids{3, 4, 1}));
  CHECK_EQUAL(tree.parent(), (Ids{-1, 0, 1, 2, 3}));
  for (const Ids& circle : {Ids{1, 0, -1}, Ids{0, -1, -1}, Ids{7, -1, -1}}) {
    CHECK_THROWS(
        tree.extend_nested(nesting, frames.data(), roots.data(), nullptr, none, circle.data(), 1),
        std::invalid_argument);
  }
}

void preferred_parents() {
  Events events;
  events.add(0, 0, 100);
  events.add(0, 10, 50);
  events.add(0, 49, 52);  // overhangs by more than half of its length
  events.add(0, 60, 70);
  const auto parents = [&](const Ids& preferred) {
    return nest(events.columns(), events.rank.data(), 2, preferred.data()).parent;
  };
  CHECK_EQUAL(parents({-1, -1, -1, -1}), (Ids{-1, 0, 0, 0}));
  CHECK_EQUAL(parents({-1, -1, 1, 1}), (Ids{-1, 0, 1, 0}));
  CHECK_EQUAL(parents({3, 1, 3, 3}), (Ids{-1, 0, 0, 0}));
  CHECK_THROWS(parents({4, -1, -1, -1}), std::invalid_argument);
}

void marks() {
  const auto pairs = [](const Ids& names, const std::vector<uint8_t>& begins) {
    const Ids group(names.size(), 0);
    return pair_marks({group.data(), begins.data(), names.data(), names.size()});
  };
  CHECK_EQUAL(pairs({1, 2, 1, 2}, {1, 1, 0, 0}), (Ids{2, 3, 0, 1}));
  CHECK_EQUAL(pairs({1, 2, -1, -1}, {1, 1, 0, 0}), (Ids{3, 2, 1, 0}));
  CHECK_EQUAL(pairs({1, 2, -1, 2}, {1, 1, 0, 0}), (Ids{-1, 2, 1, -1}));
  CHECK_EQUAL(pairs({-1, 1}, {0, 1}), (Ids{-1, -1}));
  CHECK_EQUAL(pairs({}, {}), Ids{});
}

}  // namespace

int main() {
  name_keys();
  string_pool();
  pool_shared_by_threads();
  nesting();
  tolerance();
  staircase_is_linear();
  deep_nesting();
  bad_events();
  path_tree();
  chains();
  anchors();
  preferred_parents();
  marks();
  return dctx_test::report();
}
