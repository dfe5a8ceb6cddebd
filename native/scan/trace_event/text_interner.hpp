#pragma once
// Interned raw texts of a file, as they stand in it; they are unescaped once each, at the end.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace dctx::trace_event {

enum class TextForm : uint8_t {
  Body,  // what stands between the quotes of a string; or a bare token
  Json,  // a whole JSON value
};

class TextInterner {
 public:
  // Past `max_texts` texts, or `max_bytes` of them, new ones are refused.
  TextInterner(size_t max_texts, size_t max_bytes);

  // The id, or -1 where a new text is one too many. Ids are dense, in order of first use.
  // `share` in (0, 1]: the part of the limits that this kind of text may fill.
  int32_t intern(std::string_view text, TextForm form, double share = 1.0);

  size_t size() const { return entries_.size(); }
  std::string_view text(int32_t id) const {
    const Entry& entry = entries_[static_cast<size_t>(id)];
    return {entry.data, entry.size};
  }
  TextForm form(int32_t id) const { return entries_[static_cast<size_t>(id)].form; }

 private:
  struct Entry {
    const char* data;
    uint32_t size;
    TextForm form;
  };
  struct Slot {
    uint32_t tag;
    int32_t id;
  };

  const char* store(std::string_view text);
  void grow();

  size_t max_texts_;
  size_t max_bytes_;
  size_t bytes_ = 0;
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_left_ = 0;
  char* block_at_ = nullptr;
};

}  // namespace dctx::trace_event
