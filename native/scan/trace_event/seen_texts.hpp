#pragma once
// Texts that were read before, where they are expected again: a program does the same things in the
// same order, so what came before a text tells it more often than not. Comparing with the expected
// text finds where it ends and which one it is in one go; a wrong guess costs that comparison.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scan/trace_event/lexer.hpp"

namespace dctx::trace_event {

// A text that may come again, and what it was found to be.
struct SeenText {
  const char* text = nullptr;   // as it stands in the file, sixteen readable bytes behind it
  const void* place = nullptr;  // in an event, where it is expected
  uint32_t size = 0;
  int32_t id = -1;         // that whoever interned it gave it
  Form form = Form::None;  // a String, a Number or a Container; None: no text yet

  // The next one that is kept comes from here.
  void expect(const void* from) {
    place = from;
    id = -1;
    form = Form::None;
  }
  void keep(std::string_view interned, int32_t interned_id, Form of) {
    text = interned.data();
    size = static_cast<uint32_t>(interned.size());
    id = interned_id;
    form = of;
  }
  // Where the text ends, its quotes included, when it stands at p and is a whole value there.
  // `wanted`: a form whose ids are those of the place. What two texts of one event wanted to be
  // told may be told to one that both share.
  const char* end_at(const char* p, const char* end, const void* at, Form wanted) const {
    if (place != at || form != wanted || form == Form::None) return nullptr;
    const size_t quotes = form == Form::String ? 1 : 0;
    if (static_cast<size_t>(end - p) < size + 2 * quotes) return nullptr;
    if (quotes != 0 && (*p != '"' || p[size + 1] != '"')) return nullptr;
    if (!same_bytes(p + quotes, text, size)) return nullptr;
    const char* const stop = p + size + 2 * quotes;
    if (form != Form::Number) return stop;
    return *stop == ',' || *stop == '}' || *stop == '\n' || *stop == ' ' ? stop : nullptr;
  }
};

class SeenTexts {
 public:
  SeenTexts() : seen_(kSlots) {}

  SeenText& at(uint64_t context) {
    return seen_[(context * 0x9e3779b97f4a7c15ULL) >> (64 - kSlotBits)];
  }

 private:
  static constexpr unsigned kSlotBits = 14;
  static constexpr size_t kSlots = size_t{1} << kSlotBits;
  std::vector<SeenText> seen_;
};

}  // namespace dctx::trace_event
