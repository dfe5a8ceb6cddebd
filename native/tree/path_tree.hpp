#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/key_columns.hpp"
#include "tree/key_table.hpp"
#include "tree/nesting.hpp"

namespace dctx {

// Frames by rank of first use; `file` and `line` are -1 when not known.
struct FrameColumns {
  std::vector<uint8_t> layer;
  std::vector<int32_t> name;
  std::vector<int32_t> file;
  std::vector<int32_t> line;
};

// Chains of frames, root to leaf: chain c is frames[offsets[c] .. offsets[c + 1]).
struct ChainColumns {
  const int64_t* offsets;
  size_t chains;
  const int32_t* frames;
  size_t frame_count;
};

// A calling context tree being built: a node is its parent and its frame.
class PathTree {
 public:
  PathTree();

  int32_t frame(uint8_t layer, int32_t name, int32_t file, int32_t line);
  size_t frame_count() const { return frames_.layer.size(); }
  const FrameColumns& frames() const { return frames_; }

  size_t size() const { return parent_.size(); }
  int32_t child(int32_t parent, int32_t frame);
  // A parent of -1 gives -1.
  std::vector<int32_t> extend(const int32_t* parent, const int32_t* frame, size_t rows);
  // Copies a tree, given by rows of which parents come first (-1: below the root). A row of fate 1
  // becomes a child of its parent's node, one of fate 0 is folded into that node, one of fate -1 is
  // left out (-1) with all below it. Throws std::invalid_argument where a parent does not precede.
  std::vector<int32_t> extend_folded(const int32_t* parent, const int32_t* frame,
                                     const int8_t* fate, size_t rows);
  // `chain` and `anchor` may be null: then no event has one. An event with an anchor (a row, -1:
  // none) hangs below that row's node and anchor_frame, not below its nesting parent. Throws
  // std::invalid_argument when anchors lead in a circle.
  std::vector<int32_t> extend_nested(const Nesting& nesting, const int32_t* frame,
                                     const int32_t* lane_root, const int32_t* chain,
                                     const ChainColumns& chains, const int32_t* anchor = nullptr,
                                     int32_t anchor_frame = -1);
  std::vector<int32_t> extend_chains(const int32_t* base, const int32_t* chain, size_t rows,
                                     const ChainColumns& chains);

  // Renumbers to pre-order, children by first use, and returns old id -> new id. No node can be
  // added afterwards.
  std::vector<int32_t> renumber();
  bool renumbered() const { return !last_.empty(); }

  const std::vector<int32_t>& parent() const { return parent_; }
  const std::vector<int32_t>& node_frame() const { return node_frame_; }
  const std::vector<int32_t>& last() const { return last_; }
  std::vector<int16_t> depth() const;  // stops counting at 32767

 private:
  class ChainWalk;

  void check_growing() const;
  void check_node(int32_t node) const;
  void check_frame(int32_t frame) const;
  int32_t child_of(int32_t parent, int32_t frame);
  void add_node(int32_t parent, int32_t frame);

  FrameColumns frames_;
  KeyTable frame_ids_{2};
  KeyTable node_ids_{1};
  std::vector<int32_t> parent_;
  std::vector<int32_t> node_frame_;
  std::vector<int32_t> last_;
};

}  // namespace dctx
