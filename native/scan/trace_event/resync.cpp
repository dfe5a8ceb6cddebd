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

// Whether an event may begin behind this byte.
bool may_precede_event(char c) {
  return c == '\n' || c == '\r' || c == ',' || c == '[' || c == '}';
}

bool begins_event(const char* brace, Sight sight) {
  std::string_view key;
  const char* const limit = sight.limit(brace);
  const char* const first = skip_blanks(brace + 1);
  const char* const value = first < limit ? match_key(first, key) : nullptr;
  return value != nullptr && value <= limit && is_event_key(key);
}

bool ends_events(const char* bracket, Sight sight) {
  const char* const limit = sight.limit(bracket);
  const char* p = skip_blanks(bracket + 1);
  if (p >= limit) return false;
  if (*p == ',') {
    std::string_view key;
    p = skip_blanks(p + 1);
    const char* const value = p < limit ? match_key(p, key) : nullptr;
    return value != nullptr && value <= limit && is_envelope_key(key);
  }
  return *p == '}' && static_cast<size_t>(sight.end - bracket) < kWindow &&
         skip_blanks(p + 1) >= sight.end;
}

unsigned sought_at(char c) {
  switch (c) {
    case '{':
      return kEvent;
    case ']':
      return kEndOfEvents;
    case '"':
      return kEnvelopeKey;
    default:
      return 0;
  }
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

const char* match_key_near(const char* p, Sight sight, std::string_view& key) {
  const char* const value = match_key(p, key);
  return value != nullptr && value <= sight.limit(p) ? value : nullptr;
}

bool is_stray(const char* bracket, Sight sight) {
  const char* const limit = sight.limit(bracket);
  const char* p = skip_blanks(bracket + 1);
  while (p < limit && (*p == ',' || (*p == '}' && *bracket == '}'))) p = skip_blanks(p + 1);
  if (p >= limit) return false;
  if (*p == '{') return begins_event(p, {limit, true});
  std::string_view key;
  if (*bracket == ']') return match_key_near(p, {limit, true}, key) != nullptr && is_event_key(key);
  return *p != '\0';  // the rest of an event, or the array's end
}

Found find_again(const char* from, char before, Sight sight, unsigned sought) {
  for (const char* p = from; p < sight.end; ++p) {
    const unsigned kind = sought_at(*p);
    if ((kind & sought) == 0) continue;
    if (!sight.holds(p, kWindow)) return {p, false};
    bool found;
    if (kind == kEvent) {
      found = may_precede_event(byte_before(from, p, before)) && begins_event(p, sight);
    } else if (kind == kEndOfEvents) {
      found = ends_events(p, sight);
    } else {
      std::string_view key;
      found = match_key_near(p, sight, key) != nullptr && is_envelope_key(key);
    }
    if (found) return {p, true};
  }
  return {sight.end, false};
}

char byte_before(const char* from, const char* p, char before) {
  while (p > from) {
    const char c = *--p;
    if (static_cast<uint8_t>(c) > ' ' || c == '\n' || c == '\r') return c;
  }
  return before;
}

}  // namespace dctx::trace_event
