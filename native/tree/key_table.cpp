#include "tree/key_table.hpp"

#include <array>
#include <limits>
#include <stdexcept>

namespace dctx {

KeyTable::KeyTable(size_t words, size_t expected) : words_(words) {
  size_t slots = 64;
  while (slots < expected * 2) slots *= 2;
  slots_.assign(slots, -1);
  mask_ = slots - 1;
  keys_.reserve(expected * words_);
}

void KeyTable::grow(size_t more) {
  size_t slots = slots_.size();
  while (slots < (count_ + more) * 2) slots *= 2;
  slots_.assign(slots, -1);
  mask_ = slots - 1;
  for (size_t id = 0; id < count_; ++id) {
    size_t slot = static_cast<size_t>(hash(key(id))) & mask_;
    while (slots_[slot] >= 0) slot = (slot + 1) & mask_;
    slots_[slot] = static_cast<int32_t>(id);
  }
}

int32_t KeyTable::insert_at(const uint64_t* key, uint64_t hash) {
  const size_t slot = slot_of(key, hash);
  if (slots_[slot] < 0) {
    if (count_ == static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
      throw std::length_error("more than 2^31 - 1 distinct keys");
    }
    slots_[slot] = static_cast<int32_t>(count_++);
    keys_.insert(keys_.end(), key, key + words_);
  }
  return slots_[slot];
}

void KeyTable::find_block(const uint64_t* keys, size_t count, int32_t* ids) const {
  std::array<uint64_t, kBlock> hashes;
  for (size_t i = 0; i < count; ++i) {
    hashes[i] = hash(keys + i * words_);
    __builtin_prefetch(&slots_[static_cast<size_t>(hashes[i]) & mask_]);
  }
  for (size_t i = 0; i < count; ++i) {
    const int32_t id = slots_[static_cast<size_t>(hashes[i]) & mask_];
    if (id >= 0) __builtin_prefetch(key(static_cast<size_t>(id)));
  }
  for (size_t i = 0; i < count; ++i) ids[i] = slots_[slot_of(keys + i * words_, hashes[i])];
}

void KeyTable::insert_block(const uint64_t* keys, size_t count, int32_t* ids) {
  reserve(count);
  std::array<uint64_t, kBlock> hashes;
  for (size_t i = 0; i < count; ++i) {
    hashes[i] = hash(keys + i * words_);
    __builtin_prefetch(&slots_[static_cast<size_t>(hashes[i]) & mask_], 1);
  }
  for (size_t i = 0; i < count; ++i) {
    const int32_t id = slots_[static_cast<size_t>(hashes[i]) & mask_];
    if (id >= 0) __builtin_prefetch(key(static_cast<size_t>(id)));
  }
  for (size_t i = 0; i < count; ++i) ids[i] = insert_at(keys + i * words_, hashes[i]);
}

}  // namespace dctx
