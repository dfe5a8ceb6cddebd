#pragma once
// Where reading can go on after damage.
#include <string_view>

namespace dctx::trace_event {

bool is_event_key(std::string_view key);     // ph, name, ts …
bool is_envelope_key(std::string_view key);  // of the object around the events

// The first place in [from, end) where an event begins: a brace behind a comma, a bracket, a brace
// or a line's start, then a key of events. nullptr when there is none. `begin`: of the buffer.
const char* find_event(const char* begin, const char* from, const char* end);

// The same, or where the array of events ends, if that comes first: the bracket before a key of the
// envelope or (`last`: the file ends at `end`) before the file's last brace.
const char* find_event_or_end(const char* begin, const char* from, const char* end, bool last);

// The first key of the envelope; nullptr when there is none.
const char* find_envelope_key(const char* from, const char* end);

}  // namespace dctx::trace_event
