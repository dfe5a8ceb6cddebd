#pragma once
// Statistics of an XSpace: named values of planes, events and event metadata.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scan/id_table.hpp"
#include "scan/wire.hpp"
#include "scan/xplane.hpp"
#include "tree/string_pool.hpp"

namespace dctx::scan {

std::string repaired(std::string_view text);  // sound UTF-8

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

  // Takes the fields that are sound.
  void read(WireReader& fields);
};

// Puts statistics into the columns that were asked for, the others into a JSON text. Names are
// those of one plane.
class StatReader {
 public:
  StatReader(const std::vector<std::string>& numbers, const std::vector<std::string>& texts,
             StringPool& pool);

  void prepare(StatColumns& columns) const;

  void forget_names();
  void add_name(uint64_t id, std::string text);

  const std::string* name(const Stat& stat);  // nullptr: not in the file
  std::optional<StatValue> value(const Stat& stat);
  void set(StatColumns& columns, size_t row, const Stat& stat);
  // Ends a row: what has no column.
  void flush_rest(StatColumns& columns, size_t row);
  int32_t intern(std::string_view text);

 private:
  // What a statistic's name means to this reading: a column, or the rest.
  struct StatName {
    std::string text;
    int number = -1;  // index of the column
    int column_text = -1;
    int32_t interned = -1;  // the name as a value: statistics refer to names for their texts
  };

  StatName* name_of(uint64_t id);
  std::optional<int64_t> number_of(const Stat& stat);
  int32_t text_of(const Stat& stat);
  void append_value(std::string& out, const Stat& stat);
  void add_rest(const StatName& name, const Stat& stat);

  StringPool& pool_;
  size_t number_columns_, text_columns_;
  std::unordered_map<std::string, int> numbers_, texts_;
  std::vector<StatName> names_;
  IdTable name_rows_;
  // Used again and again.
  std::vector<std::pair<const StatName*, Stat>> rest_;
  std::string json_, scratch_;
  std::vector<char> bytes_;
};

}  // namespace dctx::scan
