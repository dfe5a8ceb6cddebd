#pragma once
// Where reading can go on after damage. A decision about a place looks at the kWindow bytes from it
// and no further, and is put off until they are there: so it is the same in whatever pieces the
// file comes.
#include <algorithm>
#include <cstddef>
#include <string_view>

namespace dctx::trace_event {

constexpr size_t kWindow = 512;

bool is_event_key(std::string_view key);     // ph, name, ts …
bool is_envelope_key(std::string_view key);  // of the object around the events

// The bytes of the file that are there: up to `end`, which is the file's when it is the `last`.
struct Sight {
  const char* end;
  bool last;

  bool holds(const char* p, size_t size) const {
    return last || static_cast<size_t>(end - p) >= size;
  }
  // Where the bytes end that a decision about p may look at.
  const char* limit(const char* p) const {
    return p + std::min(kWindow, static_cast<size_t>(end - p));
  }
};

// A key with its quotes and the colon behind it, within the window of p. Returns what follows, or
// nullptr.
const char* match_key_near(const char* p, Sight sight, std::string_view& key);

// Whether the closing bracket or brace is one too many among events: they go on behind it.
bool is_stray(const char* bracket, Sight sight);

// What a search came to: the place, or where it goes on once there are more bytes.
struct Found {
  const char* at;
  bool found;
};

// What to search for, added up.
enum Sought : unsigned {
  kEvent = 1,  // a brace behind a comma, a bracket, a brace or a line's start; a key of events
  kEndOfEvents = 2,  // a bracket before a key of the envelope or before the file's last brace
  kEnvelopeKey = 4,
};

// The first of them from `from` on. `before`: the byte that counts before `from`.
Found find_again(const char* from, char before, Sight sight, unsigned sought);

// The last byte of [from, p) that is no blank, or a line's end; `before` when there is none.
char byte_before(const char* from, const char* p, char before);

}  // namespace dctx::trace_event
