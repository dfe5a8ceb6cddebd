#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tree/string_pool.hpp"

namespace dctx::scan {

// A column filled here and there: rows never set hold `null`, and a column never set is empty.
template <class T>
struct SparseColumn {
  T null;
  std::vector<T> values;

  void set(size_t row, T value) {
    if (values.size() <= row) values.resize(row + 1, null);
    values[row] = value;
  }
};

// The statistics of events, or of event metadata, by row.
struct StatColumns {
  std::vector<SparseColumn<int64_t>> numbers;  // one for each asked number
  std::vector<SparseColumn<int32_t>> texts;    // one for each asked text, ids of the pool
  SparseColumn<int32_t> rest{-1, {}};          // all others as a JSON object, id of the pool
};

using StatValue = std::variant<int64_t, uint64_t, double, std::string>;

struct XPlane {
  int64_t id = 0;
  std::string name;
};

struct XPlaneStat {
  size_t plane;
  std::string name;
  StatValue value;  // bytes and empty values are left out
};

// Bytes kept in an event's metadata: an HLO module, mostly.
struct XPlaneBlob {
  size_t metadata;  // row
  std::string name;
  std::string_view bytes;  // inside the data that was read
};

struct XPlaneDamage {
  int64_t plane;  // -1: outside the planes
  size_t offset;  // in the data
  const char* reason;
};

// All of an XSpace file in columns. Texts are ids of the pool.
struct XSpace {
  std::vector<XPlane> planes;
  std::vector<XPlaneStat> plane_stats;
  std::vector<std::string> hostnames, errors, warnings;

  // Lines: a thread, a stream, or something derived from them.
  std::vector<int32_t> line_plane, line_name, line_display;
  std::vector<uint64_t> line_id;
  std::vector<int64_t> line_timestamp_ns;

  // What events point to for their names.
  std::vector<int32_t> metadata_plane, metadata_name, metadata_display;
  std::vector<int64_t> metadata_id;
  StatColumns metadata_stats;

  // Events, line by line in the order of the file. Times are ns from the recording's start.
  std::vector<int32_t> event_line;
  std::vector<int32_t> event_metadata;  // row, -1: not in the file
  std::vector<int64_t> event_start_ns, event_dur_ns;
  std::vector<uint8_t> event_instant;  // 1: recorded without a duration
  StatColumns event_stats;

  std::vector<XPlaneBlob> blobs;
  std::vector<XPlaneDamage> damage;
  int64_t aggregated = 0;    // events without a place in time (counts), left out
  int64_t bad_time = 0;      // events whose time fits no clock, left out
  int64_t negative_dur = 0;  // durations below zero, taken as zero
};

// Reads the XSpace message that `data` holds. Statistics named in `numbers` and `texts` become
// columns (an event's own value, else its metadata's), the others one JSON text an event. Never
// fails on bad data: reading of a plane stops at its damage, which is listed.
XSpace read_xspace(std::string_view data, const std::vector<std::string>& numbers,
                   const std::vector<std::string>& texts, StringPool& pool);

}  // namespace dctx::scan
