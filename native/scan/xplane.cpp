// The wire format of the XLA profiler (tsl/profiler/protobuf/xplane.proto), walked without a
// protocol buffer library.
#include "scan/xplane.hpp"

#include <limits>
#include <optional>
#include <unordered_map>

#include "common/json_text.hpp"
#include "common/utf8.hpp"
#include "scan/value.hpp"
#include "scan/wire.hpp"

namespace dctx::scan {
namespace {

constexpr int64_t kNoNumber = std::numeric_limits<int64_t>::min();
constexpr int64_t kTimeLimit = int64_t{1} << 62;

// A statistic as written: the id of its name, and a value of one of six types.
struct Stat {
  enum class Kind : uint8_t { None, Real, Unsigned, Signed, Text, Bytes, Reference };
  uint64_t name = 0;
  Kind kind = Kind::None;
  uint64_t bits = 0;
  std::string_view bytes;

  double real() const {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
};

// What a statistic's name means to this reading: a column, or the rest.
struct StatName {
  std::string text;
  int number = -1;  // index of the column
  int column_text = -1;
  int32_t interned = -1;  // the name as a value: statistics refer to names for their texts
};

// Dense ids, as writers use them, in a flat table; the others in a map.
class IdTable {
 public:
  static constexpr int32_t kNone = -1;

  void set(uint64_t id, int32_t row) {
    if (id >= kFlat) {
      far_[id] = row;
      return;
    }
    if (id >= flat_.size()) flat_.resize(id + 1, kNone);
    flat_[id] = row;
  }
  int32_t find(uint64_t id) const {
    if (id < flat_.size()) return flat_[id];
    const auto found = far_.find(id);
    return found == far_.end() ? kNone : found->second;
  }

 private:
  static constexpr uint64_t kFlat = 1 << 16;
  std::vector<int32_t> flat_;
  std::unordered_map<uint64_t, int32_t> far_;
};

std::string repaired(std::string_view text) {
  std::vector<char> out;
  append_utf8(text, out);
  return {out.begin(), out.end()};
}

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
      : data_(data), pool_(pool) {
    for (size_t i = 0; i < numbers.size(); ++i) numbers_[numbers[i]] = static_cast<int>(i);
    for (size_t i = 0; i < texts.size(); ++i) texts_[texts[i]] = static_cast<int>(i);
    for (StatColumns* columns : {&out_.event_stats, &out_.metadata_stats}) {
      columns->numbers.assign(numbers.size(), {kNoNumber, {}});
      columns->texts.assign(texts.size(), {-1, {}});
    }
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
    names_.clear();
    name_rows_ = {};
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
    StatName name;
    while (fields.next(field)) {
      if (field.number == 2 && field.type == WireType::Bytes) name.text = repaired(field.bytes);
    }
    const auto number = numbers_.find(name.text);
    if (number != numbers_.end()) name.number = number->second;
    const auto text = texts_.find(name.text);
    if (text != texts_.end()) name.column_text = text->second;
    name_rows_.set(id, static_cast<int32_t>(names_.size()));
    names_.push_back(std::move(name));
  }

  void metadata(std::string_view entry, int64_t plane) {
    uint64_t id = 0;
    const std::string_view message = map_value(entry, id);
    const size_t row = out_.metadata_id.size();
    int32_t name = -1;
    int32_t display = -1;
    rest_.clear();
    WireReader fields(message);
    WireField field;
    while (fields.next(field)) {
      if (field.type != WireType::Bytes || !field.whole) continue;
      if (field.number == 2) name = intern(field.bytes);
      if (field.number == 4 && !field.bytes.empty()) display = intern(field.bytes);
      if (field.number == 5) metadata_stat(field.bytes, row);
    }
    report(plane, fields);
    flush_rest(out_.metadata_stats, row);
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
        if (field.number == 2) out_.line_name.back() = intern(field.bytes);
        if (field.number == 4) events_.push_back(field.bytes);
        if (field.number == 11 && !field.bytes.empty()) {
          out_.line_display.back() = intern(field.bytes);
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
    stats_.clear();
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
        stats_.emplace_back();
        if (!read_stat(field.bytes, stats_.back(), plane)) return false;
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
    rest_.clear();
    for (const Stat& stat : stats_) set_stat(out_.event_stats, row, stat);
    flush_rest(out_.event_stats, row);
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
    WireField field;
    while (fields.next(field)) {
      if (field.number == 1 && field.type == WireType::Varint) {
        stat.name = field.value;
        continue;
      }
      if (field.number < 2 || field.number > 7) continue;
      constexpr Stat::Kind kKinds[] = {Stat::Kind::Real,   Stat::Kind::Unsigned,
                                       Stat::Kind::Signed, Stat::Kind::Text,
                                       Stat::Kind::Bytes,  Stat::Kind::Reference};
      constexpr WireType kTypes[] = {WireType::Fixed64, WireType::Varint, WireType::Varint,
                                     WireType::Bytes,   WireType::Bytes,  WireType::Varint};
      if (field.type != kTypes[field.number - 2]) continue;
      stat.kind = kKinds[field.number - 2];
      stat.bits = field.value;
      stat.bytes = field.bytes;
    }
    if (fields.damage() == nullptr) return true;
    report(plane, fields);
    return false;
  }

  StatName* name_of(uint64_t id) {
    const int32_t row = name_rows_.find(id);
    return row < 0 ? nullptr : &names_[static_cast<size_t>(row)];
  }

  void plane_stat(std::string_view message, int64_t plane) {
    Stat stat;
    if (!read_stat(message, stat, plane)) return;
    const StatName* name = name_of(stat.name);
    if (name == nullptr) return;
    std::optional<StatValue> value;
    switch (stat.kind) {
      case Stat::Kind::Real:
        value = stat.real();
        break;
      case Stat::Kind::Unsigned:
        value = stat.bits;
        break;
      case Stat::Kind::Signed:
        value = static_cast<int64_t>(stat.bits);
        break;
      case Stat::Kind::Text:
        value = repaired(stat.bytes);
        break;
      case Stat::Kind::Reference:
        if (const StatName* text = name_of(stat.bits)) value = text->text;
        break;
      case Stat::Kind::None:
      case Stat::Kind::Bytes:
        break;
    }
    if (value) out_.plane_stats.push_back({static_cast<size_t>(plane), name->text, *value});
  }

  void metadata_stat(std::string_view message, size_t row) {
    Stat stat;
    if (!read_stat(message, stat, static_cast<int64_t>(out_.planes.size() - 1))) return;
    const StatName* name = name_of(stat.name);
    if (name != nullptr && stat.kind == Stat::Kind::Bytes) {
      out_.blobs.push_back({row, name->text, stat.bytes});
    } else {
      set_stat(out_.metadata_stats, row, stat);
    }
  }

  void set_stat(StatColumns& columns, size_t row, const Stat& stat) {
    StatName* name = name_of(stat.name);
    if (name == nullptr || stat.kind == Stat::Kind::None) return;
    if (name->number >= 0) {
      if (const auto value = number_of(stat)) {
        columns.numbers[static_cast<size_t>(name->number)].set(row, *value);
        return;
      }
    } else if (name->column_text >= 0) {
      const int32_t id = text_of(stat);
      if (id >= 0) {
        columns.texts[static_cast<size_t>(name->column_text)].set(row, id);
        return;
      }
    }
    add_rest(*name, stat);
  }

  std::optional<int64_t> number_of(const Stat& stat) {
    switch (stat.kind) {
      case Stat::Kind::Unsigned:
      case Stat::Kind::Signed:
        return static_cast<int64_t>(stat.bits);
      case Stat::Kind::Real:
        return truncate(stat.real());
      case Stat::Kind::Text:
        return parse_integer(stat.bytes);
      case Stat::Kind::Reference:
        if (const StatName* text = name_of(stat.bits)) return parse_integer(text->text);
        return std::nullopt;
      case Stat::Kind::None:
      case Stat::Kind::Bytes:
        break;
    }
    return std::nullopt;
  }

  int32_t text_of(const Stat& stat) {
    if (stat.kind == Stat::Kind::Text) return intern(stat.bytes);
    if (stat.kind == Stat::Kind::Reference) {
      StatName* text = name_of(stat.bits);
      if (text == nullptr) return -1;
      if (text->interned < 0) text->interned = pool_.intern(text->text);
      return text->interned;
    }
    if (stat.kind == Stat::Kind::Bytes) return -1;
    scratch_.clear();
    append_value(scratch_, stat);
    return pool_.intern(scratch_);
  }

  void append_value(std::string& out, const Stat& stat) {
    switch (stat.kind) {
      case Stat::Kind::Real:
        append_json_number(out, stat.real());
        break;
      case Stat::Kind::Unsigned:
        out += std::to_string(stat.bits);
        break;
      case Stat::Kind::Signed:
        out += std::to_string(static_cast<int64_t>(stat.bits));
        break;
      case Stat::Kind::Text:
        append_json_string(out, repaired(stat.bytes));
        break;
      case Stat::Kind::Reference: {
        const StatName* text = name_of(stat.bits);
        if (text == nullptr) {
          out += "null";
        } else {
          append_json_string(out, text->text);
        }
        break;
      }
      case Stat::Kind::None:
      case Stat::Kind::Bytes:
        append_json_string(out, std::to_string(stat.bytes.size()) + " bytes");
        break;
    }
  }

  void add_rest(const StatName& name, const Stat& stat) {
    for (auto& [known, value] : rest_) {
      if (known == &name) {
        value = stat;  // written twice: the last one counts
        return;
      }
    }
    rest_.emplace_back(&name, stat);
  }

  void flush_rest(StatColumns& columns, size_t row) {
    if (rest_.empty()) return;
    json_.assign(1, '{');
    for (const auto& [name, stat] : rest_) {
      if (json_.size() > 1) json_ += ',';
      append_json_string(json_, name->text);
      json_ += ':';
      append_value(json_, stat);
    }
    json_ += '}';
    columns.rest.set(row, pool_.intern(json_));
  }

  int32_t intern(std::string_view text) {
    bytes_.clear();
    append_utf8(text, bytes_);
    return pool_.intern({bytes_.data(), bytes_.size()});
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
  StringPool& pool_;
  std::unordered_map<std::string, int> numbers_, texts_;
  XSpace out_;
  // Of the plane being read.
  std::vector<StatName> names_;
  IdTable name_rows_, metadata_rows_;
  // Used again and again.
  std::vector<std::string_view> events_;
  std::vector<Stat> stats_;
  std::vector<std::pair<const StatName*, Stat>> rest_;
  std::string json_, scratch_;
  std::vector<char> bytes_;
};

}  // namespace

XSpace read_xspace(std::string_view data, const std::vector<std::string>& numbers,
                   const std::vector<std::string>& texts, StringPool& pool) {
  return Reader(data, numbers, texts, pool).read();
}

}  // namespace dctx::scan
