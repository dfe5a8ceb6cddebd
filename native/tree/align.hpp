#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/text.hpp"

namespace dctx {

// One of two trees to align: borrowed columns, parents precede children, -1 marks a root.
struct AlignTree {
  const int32_t* parent;
  const int32_t* key;   // exact identity
  const int32_t* name;  // normalised identity: row of the names
  size_t size;
};

// What tells that a node goes on under another name.
enum class NodeKind : uint8_t {
  Program = 0,   // names of a program are free: content and place count as much
  Library = 1,   // its names say what is done: they must have words in common
  Operator = 2,  // likewise; what it launches may be done by another kernel
  Call = 3,      // an API call: likewise; stands between an operator and its kernels
  Kernel = 4,    // likewise, but for general ones only what they compute
  Fixed = 5,     // never does
};
constexpr uint8_t kNodeKinds = 6;

// Normalised identities by number: their texts, the class outside which none is taken for another,
// and their NodeKind.
struct AlignNames {
  const TextData* text;
  const uint8_t* layer;
  const uint8_t* kind;
  size_t size;
};

enum class MatchKind : uint8_t {
  BaseOnly = 0,
  TargetOnly = 1,
  Same = 2,        // equal keys below paired parents
  Normalised = 3,  // equal names
  Renamed = 4,     // alike in name, content and place
  Moved = 5,       // below parents that are not each other's partners
  Replaced = 6,    // unlike kernels, each the only one left below the same operator
};

struct MergedTree {
  std::vector<int32_t> base;  // -1 where a node is in the target only
  std::vector<int32_t> target;
  std::vector<int32_t> parent;  // rows are in pre-order
  std::vector<uint8_t> kind;
};

// Every node of both trees gets a row, partners share one. A moved pair stands below the nearest
// common ancestor of both of its places, so that its cost is charged there. The pairs do not
// depend on which tree is called base. Throws std::invalid_argument for names and
// kinds out of range.
MergedTree align_trees(const AlignTree& base, const AlignTree& target, const AlignNames& names);

}  // namespace dctx
