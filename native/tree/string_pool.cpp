#include "tree/string_pool.hpp"

#include <atomic>
#include <limits>
#include <stdexcept>

#include "tree/hash.hpp"
#include "tree/name_key.hpp"

namespace dctx {

StringPool::StringPool() : texts_(std::make_shared<TextData>()), slots_(1024, Slot{0, -1}) {}

size_t StringPool::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return texts_->size();
}

std::string StringPool::text(size_t id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (id >= texts_->size()) throw std::out_of_range("no such string");
  return std::string((*texts_)[id]);
}

int32_t StringPool::intern(std::string_view text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return insert(text);
}

std::vector<int32_t> StringPool::intern_column(const TextData& column) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<int32_t> ids(column.size());
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = column.is_null(i) ? -1 : insert(column[i]);
  return ids;
}

std::vector<int32_t> StringPool::intern_rows(const TextData& column, const int64_t* rows,
                                             size_t count) {
  constexpr int32_t kUnseen = -2;
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<int32_t> id_of(column.size(), kUnseen);  // many rows share few texts
  std::vector<int32_t> ids(count, -1);
  for (size_t i = 0; i < count; ++i) {
    if (rows[i] < 0) continue;
    const auto row = static_cast<size_t>(rows[i]);
    if (row >= column.size()) throw std::invalid_argument("a row is beyond the column's end");
    int32_t& id = id_of[row];
    if (id == kUnseen) id = column.is_null(row) ? -1 : insert(column[row]);
    ids[i] = id;
  }
  return ids;
}

std::vector<int32_t> StringPool::name_keys(const int32_t* ids, size_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<int32_t> key_of(texts_->size(), -1);
  std::vector<int32_t> keys(count, -1);
  std::string key;
  for (size_t i = 0; i < count; ++i) {
    if (ids[i] == -1) continue;
    const auto id = static_cast<size_t>(ids[i]);
    if (ids[i] < 0 || id >= key_of.size()) throw std::invalid_argument("no such string id");
    if (key_of[id] < 0) {
      name_key((*texts_)[id], key);
      key_of[id] = insert(key);
    }
    keys[i] = key_of[id];
  }
  return keys;
}

std::shared_ptr<const TextData> StringPool::texts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return texts_;
}

int32_t StringPool::insert(std::string_view text) {
  const uint64_t hash = hash_text(text);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  const size_t mask = slots_.size() - 1;
  size_t slot = tag & mask;
  for (; slots_[slot].id >= 0; slot = (slot + 1) & mask) {
    const auto id = static_cast<size_t>(slots_[slot].id);
    if (slots_[slot].hash == tag && (*texts_)[id] == text) return slots_[slot].id;
  }
  const size_t id = texts_->size();
  if (id >= static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw std::length_error("more than 2^31 - 1 distinct strings");
  }
  writable().push_back(text);
  slots_[slot] = {tag, static_cast<int32_t>(id)};
  if (id * 2 > slots_.size()) grow();
  return static_cast<int32_t>(id);
}

TextData& StringPool::writable() {
  if (texts_.use_count() > 1) {
    texts_ = std::make_shared<TextData>(*texts_);
  } else {
    // What the last other holder read happened before its release of the pointer.
    std::atomic_thread_fence(std::memory_order_acquire);
  }
  return *texts_;
}

void StringPool::grow() {
  std::vector<Slot> slots(slots_.size() * 4, Slot{0, -1});
  const size_t mask = slots.size() - 1;
  for (const Slot& old : slots_) {
    if (old.id < 0) continue;
    size_t slot = old.hash & mask;
    while (slots[slot].id >= 0) slot = (slot + 1) & mask;
    slots[slot] = old;
  }
  slots_.swap(slots);
}

}  // namespace dctx
