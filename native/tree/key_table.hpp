#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/hash.hpp"

namespace dctx {

// Dense int32 ids of distinct keys of `words` 64-bit words, in order of first use. Open addressing;
// works on blocks so that the memory accesses of many keys overlap.
class KeyTable {
 public:
  static constexpr size_t kBlock = 256;

  explicit KeyTable(size_t words, size_t expected = 0);

  size_t size() const { return count_; }
  const uint64_t* key(size_t id) const { return keys_.data() + id * words_; }

  int32_t find(const uint64_t* key) const { return slots_[slot_of(key, hash(key))]; }
  int32_t insert(const uint64_t* key) {
    reserve(1);
    return insert_at(key, hash(key));
  }

  // At most kBlock keys; ids[i] is -1 where a key is not in the table.
  void find_block(const uint64_t* keys, size_t count, int32_t* ids) const;
  void insert_block(const uint64_t* keys, size_t count, int32_t* ids);

 private:
  uint64_t hash(const uint64_t* key) const {
    uint64_t h = mix_bits(key[0]);
    for (size_t w = 1; w < words_; ++w) h = mix_bits(h ^ key[w]);
    return h;
  }
  bool equal(size_t id, const uint64_t* other) const {
    const uint64_t* mine = key(id);
    for (size_t w = 0; w < words_; ++w) {
      if (mine[w] != other[w]) return false;
    }
    return true;
  }
  size_t slot_of(const uint64_t* key, uint64_t hash) const {
    size_t slot = static_cast<size_t>(hash) & mask_;
    while (slots_[slot] >= 0 && !equal(static_cast<size_t>(slots_[slot]), key)) {
      slot = (slot + 1) & mask_;
    }
    return slot;
  }
  int32_t insert_at(const uint64_t* key, uint64_t hash);
  void reserve(size_t more) {
    if ((count_ + more) * 2 > slots_.size()) grow(more);
  }
  void grow(size_t more);

  size_t words_;
  size_t count_ = 0;
  size_t mask_ = 0;
  std::vector<uint64_t> keys_;
  std::vector<int32_t> slots_;
};

}  // namespace dctx
