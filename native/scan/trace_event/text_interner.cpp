#include "scan/trace_event/text_interner.hpp"

#include <algorithm>

namespace dctx::trace_event {
namespace {

constexpr size_t kBlock = size_t{1} << 18;
constexpr size_t kBehind = 16;  // readable bytes behind each text

uint64_t load64(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

uint64_t fold(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Sixteen bytes a step, the last step overlapping the one before.
uint64_t hash_bytes(std::string_view text, TextForm form) {
  constexpr uint64_t kA = 0x9e3779b97f4a7c15ULL;
  constexpr uint64_t kB = 0xd6e8feb86659fd93ULL;
  const char* p = text.data();
  const size_t size = text.size();
  uint64_t hash = size * kA + static_cast<uint64_t>(form);
  if (size >= 16) {
    const char* const last = p + size - 16;
    for (; p < last; p += 16) hash = fold(load64(p) ^ kA ^ hash, load64(p + 8) ^ kB);
    return fold(load64(last) ^ kA ^ hash, load64(last + 8) ^ kB);
  }
  uint64_t low = 0;
  uint64_t high = 0;
  if (size >= 8) {
    low = load64(p);
    high = load64(p + size - 8);
  } else {
    for (size_t i = 0; i < size; ++i)
      low |= static_cast<uint64_t>(static_cast<uint8_t>(p[i])) << 8 * i;
  }
  return fold(low ^ kA ^ hash, high ^ kB);
}

}  // namespace

TextInterner::TextInterner(size_t max_texts, size_t max_bytes)
    : max_texts_(std::min(max_texts, size_t{1} << 30)),
      max_bytes_(max_bytes),
      slots_(size_t{1} << 12, Slot{0, -1}) {}

int32_t TextInterner::intern(std::string_view text, TextForm form, double share) {
  const uint64_t hash = hash_bytes(text, form);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot].id >= 0; slot = (slot + 1) & mask) {
    if (slots_[slot].tag != tag) continue;
    const Entry& entry = entries_[static_cast<size_t>(slots_[slot].id)];
    if (entry.form == form && entry.size == text.size() &&
        (text.empty() || std::memcmp(entry.data, text.data(), text.size()) == 0)) {
      return slots_[slot].id;
    }
  }
  const size_t id = entries_.size();
  if (static_cast<double>(id) >= static_cast<double>(max_texts_) * share ||
      static_cast<double>(bytes_ + text.size()) > static_cast<double>(max_bytes_) * share) {
    return -1;
  }
  entries_.push_back({store(text), static_cast<uint32_t>(text.size()), form});
  slots_[slot] = {tag, static_cast<int32_t>(id)};
  if (entries_.size() * 2 > slots_.size()) grow();
  return static_cast<int32_t>(id);
}

const char* TextInterner::store(std::string_view text) {
  bytes_ += text.size();
  if (text.size() > block_left_) {
    const size_t size = std::max(kBlock, text.size());
    blocks_.emplace_back(new char[size + kBehind]());
    if (size > kBlock) {  // a block of its own; the present one goes on
      std::memcpy(blocks_.back().get(), text.data(), text.size());
      return blocks_.back().get();
    }
    block_at_ = blocks_.back().get();
    block_left_ = size;
  }
  char* const at = block_at_;
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  block_at_ += text.size();
  block_left_ -= text.size();
  return at;
}

void TextInterner::grow() {
  std::vector<Slot> slots(slots_.size() * 4, Slot{0, -1});
  const size_t mask = slots.size() - 1;
  for (size_t id = 0; id < entries_.size(); ++id) {
    const uint64_t hash = hash_bytes({entries_[id].data, entries_[id].size}, entries_[id].form);
    size_t slot = hash & mask;
    while (slots[slot].id >= 0) slot = (slot + 1) & mask;
    slots[slot] = {static_cast<uint32_t>(hash >> 32), static_cast<int32_t>(id)};
  }
  slots_.swap(slots);
}

}  // namespace dctx::trace_event
