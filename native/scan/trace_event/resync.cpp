#include "scan/trace_event/resync.hpp"

#include <cstdint>
#include <cstring>

#include "scan/trace_event/lexer.hpp"

namespace dctx::trace_event {
namespace {

template <size_t kCount>
bool one_of(std::string_view key, const std::string_view (&keys)[kCount]) {
  for (const std::string_view known : keys) {
    if (key == known) return true;
  }
  return false;
}

// Whether an event may begin at p, from what stands before it.
bool may_begin(const char* begin, const char* p) {
  while (p > begin) {
    const char c = *--p;
    if (c == '\n' || c == '\r' || c == ',' || c == '[' || c == '}') return true;
    if (static_cast<uint8_t>(c) > ' ') return false;
  }
  return false;
}

bool begins_event(const char* begin, const char* brace) {
  std::string_view key;
  return may_begin(begin, brace) && match_key(skip_blanks(brace + 1), key) != nullptr &&
         is_event_key(key);
}

bool ends_events(const char* bracket, const char* end, bool last) {
  const char* p = skip_blanks(bracket + 1);
  std::string_view key;
  if (*p == ',') return match_key(skip_blanks(p + 1), key) != nullptr && is_envelope_key(key);
  return *p == '}' && last && skip_blanks(p + 1) >= end;
}

}  // namespace

bool is_event_key(std::string_view key) {
  static constexpr std::string_view kKeys[] = {"ph",  "name", "cat",  "ts", "dur", "pid",
                                               "tid", "id",   "args", "bp", "s"};
  return one_of(key, kKeys);
}

bool is_envelope_key(std::string_view key) {
  static constexpr std::string_view kKeys[] = {
      "traceEvents",     "traceName",        "baseTimeNanoseconds",  "displayTimeUnit",
      "distributedInfo", "deviceProperties", "schemaVersion",        "metadata",
      "otherData",       "trace_id",         "stackFrames",          "samples",
      "record_shapes",   "with_stack",       "profile_memory",       "with_flops",
      "with_modules",    "host_name",        "cuda_runtime_version", "cuda_driver_version",
      "cupti_version",   "computeProperties"};
  return one_of(key, kKeys);
}

const char* find_event(const char* begin, const char* from, const char* end) {
  for (const char* p = from; p < end; ++p) {
    p = static_cast<const char*>(std::memchr(p, '{', static_cast<size_t>(end - p)));
    if (p == nullptr) return nullptr;
    if (begins_event(begin, p)) return p;
  }
  return nullptr;
}

const char* find_event_or_end(const char* begin, const char* from, const char* end, bool last) {
  const char* const event = find_event(begin, from, end);
  const char* const stop = event == nullptr ? end : event;
  for (const char* p = from; p < stop; ++p) {
    p = static_cast<const char*>(std::memchr(p, ']', static_cast<size_t>(stop - p)));
    if (p == nullptr) break;
    if (ends_events(p, end, last)) return p;
  }
  return event;
}

const char* find_envelope_key(const char* from, const char* end) {
  for (const char* p = from; p < end; ++p) {
    p = static_cast<const char*>(std::memchr(p, '"', static_cast<size_t>(end - p)));
    if (p == nullptr) return nullptr;
    std::string_view key;
    if (match_key(p, key) != nullptr && is_envelope_key(key)) return p;
  }
  return nullptr;
}

}  // namespace dctx::trace_event
