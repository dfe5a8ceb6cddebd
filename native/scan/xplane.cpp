// The wire format of the XLA profiler (tsl/profiler/protobuf/xplane.proto), walked without a
// protocol buffer library.
#include "scan/xplane.hpp"

#include <utility>

#include "scan/id_table.hpp"
#include "scan/wire.hpp"
#include "scan/xplane_stats.hpp"

namespace dctx::scan {
namespace {

constexpr int64_t kTimeLimit = int64_t{1} << 62;

// Picoseconds to the nearest nanosecond, halves up.
__extension__ typedef __int128 Wide;
Wide round_ps(Wide ps) {
  const Wide shifted = ps + 500;
  return shifted >= 0 ? shifted / 1000 : -((-shifted + 999) / 1000);
}

class Reader {
 public:
  Reader(std::string_view data, const std::vector<std::string>& numbers,
         const std::vector<std::string>& texts, StringPool& pool)
      : data_(data), stats_(numbers, texts, pool) {
    stats_.prepare(out_.event_stats);
    stats_.prepare(out_.metadata_stats);
  }

  XSpace read() {
    WireReader space(data_);
    WireField field;
    while (space.next(field)) {
      if (field.type != WireType::Bytes) continue;
      switch (field.number) {
        case 1:
          plane(field.bytes, field.whole);
          break;
        case 2:
          out_.errors.push_back(repaired(field.bytes));
          break;
        case 3:
          out_.warnings.push_back(repaired(field.bytes));
          break;
        case 4:
          out_.hostnames.push_back(repaired(field.bytes));
          break;
        default:
          break;
      }
    }
    report(-1, space);
    inherit();
    return std::move(out_);
  }

 private:
  // ---- planes

  void plane(std::string_view message, bool whole) {
    stats_.forget_names();
    metadata_rows_ = {};
    out_.planes.emplace_back();
    const auto row = static_cast<int64_t>(out_.planes.size() - 1);
    // Lines are written before the names they need.
    std::vector<std::string_view> lines, event_metadata, stats;
    WireReader fields(message);
    WireField field;
    while (fields.next(field)) {
      if (field.number == 1 && field.type == WireType::Varint) {
        out_.planes.back().id = static_cast<int64_t>(field.value);
      }
      if (field.type != WireType::Bytes) continue;
      if (field.number == 2) out_.planes.back().name = repaired(field.bytes);
      if (field.number == 3) lines.push_back(field.bytes);
      if (field.number == 4 && field.whole) event_metadata.push_back(field.bytes);
      if (field.number == 5 && field.whole) stat_metadata(field.bytes);
      if (field.number == 6 && field.whole) stats.push_back(field.bytes);
    }
    // A plane cut by the end of the file is told by the file itself.
    if (whole) report(row, fields);
    for (const std::string_view entry : event_metadata) metadata(entry, row);
    for (const std::string_view stat : stats) plane_stat(stat, row);
    for (const std::string_view line : lines) {
      if (!this->line(line, row, whole && fields.damage() == nullptr)) break;
    }
  }

  void report(int64_t plane, const WireReader& reader) {
    if (reader.damage() == nullptr) return;
    const auto offset = static_cast<size_t>(reader.position() - data_.data());
    out_.damage.push_back({plane, offset, reader.damage()});
  }

  // The value of a map's entry; its key, unless the value brings its own id.
  static std::string_view map_value(std::string_view entry, uint64_t& key) {
    WireReader fields(entry);
    WireField field;
    std::string_view value;
    while (fields.next(field)) {
      if (field.number == 1 && field.type == WireType::Varint) key = field.value;
      if (field.number == 2 && field.type == WireType::Bytes && field.whole) value = field.bytes;
    }
    return value;
  }

  void stat_metadata(std::string_view entry) {
    uint64_t id = 0;
    WireReader fields(map_value(entry, id));
    WireField field;
    std::string name;
    while (fields.next(field)) {
      if (field.number == 2 && field.type == WireType::Bytes) name = repaired(field.bytes);
    }
    stats_.add_name(id, std::move(name));
  }

  void metadata(std::string_view entry, int64_t plane) {
    uint64_t id = 0;
    const std::string_view message = map_value(entry, id);
    const size_t row = out_.metadata_id.size();
    int32_t name = -1;
    int32_t display = -1;
    WireReader fields(message);
    WireField field;
    while (fields.next(field)) {
      if (field.type != WireType::Bytes || !field.whole) continue;
      if (field.number == 2) name = stats_.intern(field.bytes);
      if (field.number == 4 && !field.bytes.empty()) display = stats_.intern(field.bytes);
      if (field.number == 5) metadata_stat(field.bytes, row);
    }
    report(plane, fields);
    stats_.flush_rest(out_.metadata_stats, row);
    metadata_rows_.set(id, static_cast<int32_t>(row));
    out_.metadata_plane.push_back(static_cast<int32_t>(plane));
    out_.metadata_id.push_back(static_cast<int64_t>(id));
    out_.metadata_name.push_back(name);
    out_.metadata_display.push_back(display);
  }

  // ---- lines and events

  // False at damage: the plane is not read on.
  bool line(std::string_view message, int64_t plane, bool plane_whole) {
    const auto row = static_cast<int32_t>(out_.line_id.size());
    out_.line_plane.push_back(static_cast<int32_t>(plane));
    out_.line_id.push_back(0);
    out_.line_name.push_back(-1);
    out_.line_display.push_back(-1);
    out_.line_timestamp_ns.push_back(0);
    WireReader fields(message);
    WireField field;
    events_.clear();
    while (fields.next(field)) {
      if (field.type == WireType::Varint) {
        if (field.number == 1) out_.line_id.back() = field.value;
        if (field.number == 3) out_.line_timestamp_ns.back() = static_cast<int64_t>(field.value);
      } else if (field.type == WireType::Bytes && field.whole) {
        if (field.number == 2) out_.line_name.back() = stats_.intern(field.bytes);
        if (field.number == 4) events_.push_back(field.bytes);
        if (field.number == 11 && !field.bytes.empty()) {
          out_.line_display.back() = stats_.intern(field.bytes);
        }
      }
    }
    // Read after the line's own fields: its timestamp may come behind them.
    for (const std::string_view event : events_) {
      if (!this->event(event, row, plane)) return false;
    }
    if (fields.damage() == nullptr) return true;
    if (plane_whole) report(plane, fields);
    return false;
  }

  bool event(std::string_view message, int32_t line, int64_t plane) {
    uint64_t id = 0;
    int64_t offset_ps = 0;
    int64_t duration_ps = 0;
    bool instant = true;
    bool counted = false;
    bool placed = false;
    event_stats_.clear();
    WireReader fields(message);
    WireField field;
    while (fields.next(field)) {
      if (field.type == WireType::Varint) {
        const auto value = static_cast<int64_t>(field.value);
        if (field.number == 1) id = field.value;
        if (field.number == 2) {
          offset_ps = value;
          placed = true;
        }
        if (field.number == 3) {
          duration_ps = value;
          instant = false;
        }
        if (field.number == 5) counted = true;
      } else if (field.number == 4 && field.type == WireType::Bytes && field.whole) {
        event_stats_.emplace_back();
        if (!read_stat(field.bytes, event_stats_.back(), plane)) return false;
      }
    }
    if (fields.damage() != nullptr) {
      report(plane, fields);
      return false;
    }
    if (counted && !placed) {
      ++out_.aggregated;
      return true;
    }
    if (duration_ps < 0) {
      ++out_.negative_dur;
      duration_ps = 0;
    }
    const int64_t origin = out_.line_timestamp_ns.back();
    const Wide start = origin + round_ps(offset_ps);
    const Wide end = origin + round_ps(static_cast<Wide>(offset_ps) + duration_ps);
    if (start < -kTimeLimit || end > kTimeLimit) {
      ++out_.bad_time;
      return true;
    }
    const size_t row = out_.event_line.size();
    for (const Stat& stat : event_stats_) stats_.set(out_.event_stats, row, stat);
    stats_.flush_rest(out_.event_stats, row);
    out_.event_line.push_back(line);
    out_.event_metadata.push_back(metadata_rows_.find(id));
    out_.event_start_ns.push_back(static_cast<int64_t>(start));
    out_.event_dur_ns.push_back(static_cast<int64_t>(end - start));
    out_.event_instant.push_back(instant ? 1 : 0);
    return true;
  }

  // ---- statistics

  bool read_stat(std::string_view message, Stat& stat, int64_t plane) {
    WireReader fields(message);
    stat.read(fields);
    report(plane, fields);
    return fields.damage() == nullptr;
  }

  void plane_stat(std::string_view message, int64_t plane) {
    Stat stat;
    if (!read_stat(message, stat, plane)) return;
    const std::string* const name = stats_.name(stat);
    if (name == nullptr) return;
    if (auto value = stats_.value(stat)) {
      out_.plane_stats.push_back({static_cast<size_t>(plane), *name, std::move(*value)});
    }
  }

  void metadata_stat(std::string_view message, size_t row) {
    Stat stat;
    if (!read_stat(message, stat, static_cast<int64_t>(out_.planes.size() - 1))) return;
    const std::string* const name = stats_.name(stat);
    if (name != nullptr && stat.kind == Stat::Kind::Bytes) {
      out_.blobs.push_back({row, *name, stat.bytes});
    } else {
      stats_.set(out_.metadata_stats, row, stat);
    }
  }

  // An event without a value of its own has its metadata's.
  void inherit() {
    const auto fill = [&](auto& own, const auto& shared) {
      if (shared.values.empty()) return;
      for (size_t i = 0; i < out_.event_metadata.size(); ++i) {
        const int32_t row = out_.event_metadata[i];
        if (row < 0 || static_cast<size_t>(row) >= shared.values.size()) continue;
        const auto value = shared.values[static_cast<size_t>(row)];
        if (value == shared.null || (i < own.values.size() && own.values[i] != own.null)) continue;
        own.set(i, value);
      }
    };
    StatColumns& own = out_.event_stats;
    const StatColumns& shared = out_.metadata_stats;
    for (size_t i = 0; i < own.numbers.size(); ++i) fill(own.numbers[i], shared.numbers[i]);
    for (size_t i = 0; i < own.texts.size(); ++i) fill(own.texts[i], shared.texts[i]);
  }

  std::string_view data_;
  XSpace out_;
  StatReader stats_;
  IdTable metadata_rows_;  // of the plane being read
  // Used again and again.
  std::vector<std::string_view> events_;
  std::vector<Stat> event_stats_;
};

}  // namespace

XSpace read_xspace(std::string_view data, const std::vector<std::string>& numbers,
                   const std::vector<std::string>& texts, StringPool& pool) {
  return Reader(data, numbers, texts, pool).read();
}

}  // namespace dctx::scan
