#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "monitor/engine/intern.hpp"
#include "monitor/engine/node.hpp"
#include "tree/hash.hpp"

namespace dctx::monitor {

// From a path of frames to the node it ends in. The key is a hash of every frame, so that a hit
// has read the whole path; depth and innermost code tell collisions apart.
class PathCache {
 public:
  static constexpr size_t kMaxEntries = 65'536;

  uint32_t find(uint64_t key, uint32_t depth, const void* leaf) const {
    if (entries_.empty()) return kNoNode;
    const size_t mask = entries_.size() - 1;
    for (size_t at = key & mask;; at = (at + 1) & mask) {
      const Entry& entry = entries_[at];
      if (entry.node == kNoNode) return kNoNode;
      if (entry.key == key && entry.depth == depth && entry.leaf == leaf) return entry.node;
    }
  }
  void insert(uint64_t key, uint32_t depth, const void* leaf, uint32_t node) {
    if (count_ >= kMaxEntries) clear();
    if ((count_ + 1) * 2 > entries_.size()) grow();
    place({key, leaf, depth, node});
    ++count_;
  }
  void clear() {
    entries_.clear();
    count_ = 0;
  }

 private:
  struct Entry {
    uint64_t key = 0;
    const void* leaf = nullptr;
    uint32_t depth = 0;
    uint32_t node = kNoNode;
  };
  void place(const Entry& entry) {
    const size_t mask = entries_.size() - 1;
    size_t at = entry.key & mask;
    while (entries_[at].node != kNoNode) at = (at + 1) & mask;
    entries_[at] = entry;
  }
  void grow() {
    std::vector<Entry> old(entries_.empty() ? 256 : entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.node != kNoNode) place(entry);
    }
  }

  std::vector<Entry> entries_;
  size_t count_ = 0;
};

// Of the paths met lately. The key is a hash of where each frame is, without a look at its code: an
// entry holds while no code object ends, as `age` tells. Direct mapped.
class RecentPaths {
 public:
  uint32_t find(uint64_t key, uint64_t age, uint32_t depth, const void* leaf) const {
    if (entries_.empty()) return kNoNode;
    const Entry& entry = entries_[key % kSlots];
    const bool same =
        entry.key == key && entry.age == age && entry.depth == depth && entry.leaf == leaf;
    return same ? entry.node : kNoNode;
  }
  void insert(uint64_t key, uint64_t age, uint32_t depth, const void* leaf, uint32_t node) {
    if (entries_.empty()) entries_.resize(kSlots);
    entries_[key % kSlots] = {key, age, leaf, depth, node};
  }
  void clear() { entries_.clear(); }

 private:
  static constexpr size_t kSlots = 512;
  struct alignas(32) Entry {
    uint64_t key = 0;
    uint64_t age = 0;
    const void* leaf = nullptr;
    uint32_t depth = 0;
    uint32_t node = kNoNode;
  };
  std::vector<Entry> entries_;
};

// From a code object (address and fingerprint) to its id; direct mapped.
class CodeCache {
 public:
  static constexpr uint32_t kNone = 0xffffffffU;

  uint32_t find(const void* code, uint64_t fingerprint) const {
    if (entries_.empty()) return kNone;
    const Entry& entry = entries_[slot(code, fingerprint)];
    return entry.code == code && entry.fingerprint == fingerprint ? entry.id : kNone;
  }
  void insert(const void* code, uint64_t fingerprint, uint32_t id) {
    if (entries_.empty()) entries_.resize(kSlots);
    entries_[slot(code, fingerprint)] = {code, fingerprint, id};
  }

 private:
  static constexpr size_t kSlots = 4096;
  struct Entry {
    const void* code = nullptr;
    uint64_t fingerprint = 0;
    uint32_t id = kNone;
  };
  static size_t slot(const void* code, uint64_t fingerprint) {
    return mix_bits(reinterpret_cast<uintptr_t>(code) ^ fingerprint) % kSlots;
  }
  std::vector<Entry> entries_;
};

// What the name of an event says about it.
struct EventName {
  uint32_t label;
  bool evaluates_backward;  // the engine's frame around one backward operator
  bool marks_step;          // a training step ends when the scope ends
};

// From the text of a name to what it says. Names are found by their address first, else by their
// text, as that of a temporary lies elsewhere each time. Either way all of it is compared.
class NameCache {
 public:
  static constexpr size_t kMaxNames = 65'536;

  // `add(text, &kept)` interns a text not met before: tells its EventName and a copy that stays.
  template <class Add>
  EventName find(const char* name, Add&& add) {
    if (name == nullptr) name = "";
    if (entries_.empty()) entries_.resize(kSlots);
    Entry& entry = entries_[slot(reinterpret_cast<uintptr_t>(name))];
    if (entry.address == name && std::strcmp(entry.text.data(), name) == 0) return entry.value;
    const std::string_view text(name);
    const EventName value = by_text(text, add);
    if (text.size() < kText) {
      entry.address = name;
      entry.value = value;
      std::memcpy(entry.text.data(), name, text.size() + 1);
    }
    return value;
  }

 private:
  static constexpr size_t kSlots = 1024;
  static constexpr unsigned kShift = 64 - 10;
  static constexpr size_t kTexts = 256;
  static constexpr size_t kText = 48;
  // A cache line with all that a hit reads; longer names are found by their text.
  struct alignas(64) Entry {
    const char* address = nullptr;
    EventName value{};
    std::array<char, kText> text{};
  };
  struct Text {
    std::string_view kept;
    EventName value{};
  };
  struct Hash {
    size_t operator()(std::string_view text) const { return hash_text(text); }
  };
  // The upper bits of a product are its best.
  static size_t slot(uint64_t key) { return (key * 0x9e3779b97f4a7c15ULL) >> kShift; }
  // Names of one kind differ near their end, and in length.
  static uint64_t sample(std::string_view text) {
    uint64_t middle = 0;
    uint64_t last = 0;
    if (text.size() >= 16) {
      std::memcpy(&middle, text.data() + text.size() - 16, 8);
      std::memcpy(&last, text.data() + text.size() - 8, 8);
    } else {
      const size_t half = text.size() / 2;
      std::memcpy(&middle, text.data(), half);
      std::memcpy(&last, text.data() + half, text.size() - half);
    }
    return (middle * 0xd6e8feb86659fd93ULL ^ last) + text.size();
  }
  template <class Add>
  EventName by_text(std::string_view text, Add&& add) {
    if (texts_.empty()) texts_.resize(kTexts);
    Text& place = texts_[slot(sample(text)) % kTexts];
    if (place.kept != text || place.kept.data() == nullptr) place = look_up(text, add);
    return place.value;
  }
  template <class Add>
  [[gnu::noinline]] Text look_up(std::string_view text, Add&& add) {
    const auto known = names_.find(text);
    if (known != names_.end()) return {known->first, known->second};
    std::string_view kept;
    const EventName value = add(text, &kept);
    if (names_.size() >= kMaxNames) names_.clear();
    names_.emplace(kept, value);
    return {kept, value};
  }
  std::vector<Entry> entries_;
  std::vector<Text> texts_;  // direct mapped
  std::unordered_map<std::string_view, EventName, Hash> names_;
};

// The same for the names of scopes, which are not interned as they are.
class ScopeNames {
 public:
  static constexpr size_t kMaxNames = 1024;

  // `make()` tells the EventName of a text not met before with this `marker`.
  template <class Make>
  EventName find(std::string_view name, uint32_t marker, Make&& make) {
    if (name == last_ && marker == marker_) return value_;
    last_ = name;
    if (marker != marker_) names_.clear();
    marker_ = marker;
    const auto known = names_.find(last_);
    if (known != names_.end()) return value_ = known->second;
    if (names_.size() >= kMaxNames) names_.clear();
    return value_ = names_.emplace(last_, make()).first->second;
  }

 private:
  std::string last_;
  uint32_t marker_ = 0xffffffffU;  // none yet
  EventName value_{};
  std::unordered_map<std::string, EventName> names_;
};

}  // namespace dctx::monitor
