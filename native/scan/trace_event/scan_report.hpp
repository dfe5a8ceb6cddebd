#pragma once
// What was odd in a file: how often, and where first.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dctx::trace_event {

enum class Reason : uint8_t {
  Recovered,
  RepairedText,
  NonFinite,
  Coerced,
  WideInt,
  DupKey,
  EmptyElement,
  Unclosed,
  Truncated,
  NoTs,
  BadTime,
  MissingField,
  OddType,
  NegDur,
  TooBig,
  Lost,
  BadPhase,
  BadMetadata,
  TextCap,
  Count,
};
constexpr size_t kReasons = static_cast<size_t>(Reason::Count);
constexpr const char* kReasonNames[kReasons] = {
    "recovered", "repaired_text", "non_finite",   "coerced",   "wide_int",
    "dup_key",   "empty_element", "unclosed",     "truncated", "no_ts",
    "bad_time",  "missing_field", "odd_type",     "neg_dur",   "too_big",
    "lost",      "bad_phase",     "bad_metadata", "text_cap",
};

class ScanReport {
 public:
  static constexpr size_t kOffsets = 20;

  struct Entry {
    uint64_t count = 0;
    std::vector<uint64_t> offsets;  // of the file's bytes, the first kOffsets
  };

  void add(Reason reason, uint64_t offset, uint64_t count = 1) {
    if (count == 0) return;
    Entry& entry = entries_[static_cast<size_t>(reason)];
    entry.count += count;
    if (entry.offsets.size() < kOffsets) entry.offsets.push_back(offset);
  }
  void add_unplaced(Reason reason, uint64_t count) {
    entries_[static_cast<size_t>(reason)].count += count;
  }
  const Entry& operator[](Reason reason) const { return entries_[static_cast<size_t>(reason)]; }

 private:
  std::array<Entry, kReasons> entries_;
};

}  // namespace dctx::trace_event
