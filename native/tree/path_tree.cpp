#include "tree/path_tree.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace dctx {
namespace {

uint64_t pair_key(int32_t high, int32_t low) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32) | static_cast<uint32_t>(low);
}

}  // namespace

// Follows chains of frames. Events share chains, so what (base, chain) led to is remembered
// unless chains are too many to be shared.
class PathTree::ChainWalk {
 public:
  ChainWalk(PathTree& tree, const ChainColumns& chains, size_t rows)
      : tree_(tree), chains_(chains), remember_(chains.chains <= rows / 2) {
    const auto frames = static_cast<int64_t>(chains.frame_count);
    for (size_t c = 0; c < chains.chains; ++c) {
      if (chains.offsets[c] < 0 || chains.offsets[c] > chains.offsets[c + 1] ||
          chains.offsets[c + 1] > frames) {
        throw std::invalid_argument("chain_offsets do not ascend within chain_frames");
      }
    }
    for (size_t i = 0; i < chains.frame_count; ++i) tree.check_frame(chains.frames[i]);
  }

  int32_t operator()(int32_t base, int32_t chain) {
    if (chain < 0) return base;
    if (static_cast<size_t>(chain) >= chains_.chains) {
      throw std::invalid_argument("a chain is out of range");
    }
    if (!remember_) return walk(base, chain);
    const uint64_t key = pair_key(base, chain);
    const auto id = static_cast<size_t>(seen_.insert(&key));
    if (id == reached_.size()) reached_.push_back(walk(base, chain));
    return reached_[id];
  }

 private:
  int32_t walk(int32_t base, int32_t chain) {
    const auto first = static_cast<size_t>(chains_.offsets[chain]);
    const auto last = static_cast<size_t>(chains_.offsets[chain + 1]);
    int32_t node = base;
    for (size_t i = first; i < last; ++i) node = tree_.child_of(node, chains_.frames[i]);
    return node;
  }

  PathTree& tree_;
  const ChainColumns& chains_;
  const bool remember_;
  KeyTable seen_{1};
  std::vector<int32_t> reached_;
};

PathTree::PathTree() : parent_{-1}, node_frame_{0} {
  const uint64_t root = pair_key(-1, 0);
  node_ids_.insert(&root);
}

int32_t PathTree::frame(uint8_t layer, int32_t name, int32_t file, int32_t line) {
  const std::array<uint64_t, 2> key = {pair_key(name, file), pair_key(layer, line)};
  const int32_t id = frame_ids_.insert(key.data());
  if (static_cast<size_t>(id) == frames_.layer.size()) {
    frames_.layer.push_back(layer);
    frames_.name.push_back(name);
    frames_.file.push_back(file);
    frames_.line.push_back(line);
  }
  return id;
}

void PathTree::check_growing() const {
  if (renumbered()) throw std::logic_error("the tree is renumbered: it can no longer grow");
}

void PathTree::check_node(int32_t node) const {
  if (node < 0 || static_cast<size_t>(node) >= size()) throw std::invalid_argument("no such node");
}

void PathTree::check_frame(int32_t frame) const {
  if (frame < 0 || static_cast<size_t>(frame) >= frame_count()) {
    throw std::invalid_argument("no such frame");
  }
}

int32_t PathTree::child_of(int32_t parent, int32_t frame) {
  const uint64_t key = pair_key(parent, frame);
  const int32_t node = node_ids_.insert(&key);
  if (static_cast<size_t>(node) == size()) add_node(parent, frame);
  return node;
}

void PathTree::add_node(int32_t parent, int32_t frame) {
  parent_.push_back(parent);
  node_frame_.push_back(frame);
}

int32_t PathTree::child(int32_t parent, int32_t frame) {
  check_growing();
  check_node(parent);
  check_frame(frame);
  return child_of(parent, frame);
}

std::vector<int32_t> PathTree::extend_folded(const int32_t* parent, const int32_t* frame,
                                             const int8_t* fate, size_t rows) {
  check_growing();
  check_row_count(rows);
  std::vector<int32_t> nodes(rows, -1);
  for (size_t i = 0; i < rows; ++i) {
    const int32_t up = parent[i];
    if (up >= static_cast<int32_t>(i)) throw std::invalid_argument("a parent must precede its row");
    const int32_t base = up < 0 ? 0 : nodes[static_cast<size_t>(up)];
    if (base == -1 || fate[i] < 0) continue;
    if (fate[i] == 0) {
      nodes[i] = base;
    } else {
      check_frame(frame[i]);
      nodes[i] = child_of(base, frame[i]);
    }
  }
  return nodes;
}

std::vector<int32_t> PathTree::extend(const int32_t* parent, const int32_t* frame, size_t rows) {
  check_growing();
  check_row_count(rows);
  for (size_t i = 0; i < rows; ++i) {
    if (parent[i] == -1) continue;
    check_node(parent[i]);
    check_frame(frame[i]);
  }
  std::vector<int32_t> nodes(rows, -1);
  std::array<uint64_t, KeyTable::kBlock> keys;
  std::array<int32_t, KeyTable::kBlock> ids;
  std::array<size_t, KeyTable::kBlock> row_of;
  for (size_t first = 0; first < rows; first += KeyTable::kBlock) {
    size_t count = 0;
    for (size_t i = first; i < std::min(rows, first + KeyTable::kBlock); ++i) {
      if (parent[i] == -1) continue;
      keys[count] = pair_key(parent[i], frame[i]);
      row_of[count++] = i;
    }
    node_ids_.insert_block(keys.data(), count, ids.data());
    for (size_t k = 0; k < count; ++k) {
      if (static_cast<size_t>(ids[k]) == size()) add_node(parent[row_of[k]], frame[row_of[k]]);
      nodes[row_of[k]] = ids[k];
    }
  }
  return nodes;
}

std::vector<int32_t> PathTree::extend_nested(const Nesting& nesting, const int32_t* frame,
                                             const int32_t* lane_root, const int32_t* chain,
                                             const ChainColumns& chains, const int32_t* anchor,
                                             int32_t anchor_frame) {
  check_growing();
  const size_t rows = nesting.order.size();
  ChainWalk follow(*this, chains, rows);
  for (size_t i = 0; i < rows; ++i) {
    check_frame(frame[i]);
    if (nesting.parent[i] < 0) check_node(lane_root[i]);
    if (anchor == nullptr || anchor[i] < 0) continue;
    if (static_cast<size_t>(anchor[i]) >= rows) throw std::invalid_argument("no such anchor");
    check_frame(anchor_frame);
  }
  std::vector<int32_t> nodes(rows, -1);
  const auto enter = [&](size_t row) {
    const bool anchored = anchor != nullptr && anchor[row] >= 0;
    const int32_t outer = anchored ? anchor[row] : nesting.parent[row];
    int32_t base = outer < 0 ? lane_root[row] : nodes[static_cast<size_t>(outer)];
    if (anchored) base = child_of(base, anchor_frame);
    if (chain != nullptr) base = follow(base, chain[row]);
    nodes[row] = child_of(base, frame[row]);
  };
  if (anchor == nullptr) {
    for (const uint32_t row : nesting.order) enter(row);
    return nodes;
  }
  // An anchor may come later in the order: what a row hangs below is entered first.
  std::vector<bool> waiting(rows, false);
  std::vector<size_t> stack;
  for (const uint32_t first : nesting.order) {
    if (nodes[first] < 0) stack.push_back(first);
    while (!stack.empty()) {
      const size_t row = stack.back();
      const int32_t outer = anchor[row] >= 0 ? anchor[row] : nesting.parent[row];
      if (outer < 0 || nodes[static_cast<size_t>(outer)] >= 0) {
        enter(row);
        stack.pop_back();
        continue;
      }
      if (waiting[row]) throw std::invalid_argument("anchors lead in a circle");
      waiting[row] = true;
      stack.push_back(static_cast<size_t>(outer));
    }
  }
  return nodes;
}

std::vector<int32_t> PathTree::extend_chains(const int32_t* base, const int32_t* chain, size_t rows,
                                             const ChainColumns& chains) {
  check_growing();
  check_row_count(rows);
  ChainWalk follow(*this, chains, rows);
  for (size_t i = 0; i < rows; ++i) {
    if (base[i] != -1) check_node(base[i]);
  }
  std::vector<int32_t> nodes(rows);
  for (size_t i = 0; i < rows; ++i) nodes[i] = base[i] == -1 ? -1 : follow(base[i], chain[i]);
  return nodes;
}

std::vector<int32_t> PathTree::renumber() {
  check_growing();
  const size_t nodes = size();
  std::vector<int32_t> subtree(nodes, 1);
  for (size_t node = nodes; node-- > 1;) {
    subtree[static_cast<size_t>(parent_[node])] += subtree[node];
  }
  // A node's children have ascending old ids in order of first use; each takes the place that its
  // elder siblings' subtrees leave.
  std::vector<int32_t> new_id(nodes, 0);
  std::vector<int32_t> next_child(nodes);
  std::vector<int32_t> parent(nodes, -1);
  std::vector<int32_t> frame(nodes);
  last_.resize(nodes);
  for (size_t node = 0; node < nodes; ++node) {
    if (node > 0) {
      const auto up = static_cast<size_t>(parent_[node]);
      new_id[node] = next_child[up];
      next_child[up] += subtree[node];
      parent[static_cast<size_t>(new_id[node])] = new_id[up];
    }
    next_child[node] = new_id[node] + 1;
    frame[static_cast<size_t>(new_id[node])] = node_frame_[node];
    last_[static_cast<size_t>(new_id[node])] = new_id[node] + subtree[node] - 1;
  }
  parent_.swap(parent);
  node_frame_.swap(frame);
  node_ids_ = KeyTable(1);
  return new_id;
}

std::vector<int16_t> PathTree::depth() const {
  std::vector<int16_t> depth(size(), 0);
  for (size_t node = 1; node < size(); ++node) {
    const int16_t above = depth[static_cast<size_t>(parent_[node])];
    const bool more = above < std::numeric_limits<int16_t>::max();
    depth[node] = static_cast<int16_t>(above + (more ? 1 : 0));
  }
  return depth;
}

}  // namespace dctx
