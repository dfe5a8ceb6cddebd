#include "scan/xplane_stats.hpp"

#include <limits>

#include "common/json_text.hpp"
#include "common/utf8.hpp"
#include "scan/value.hpp"

namespace dctx::scan {
namespace {

constexpr int64_t kNoNumber = std::numeric_limits<int64_t>::min();

}  // namespace

std::string repaired(std::string_view text) {
  std::vector<char> out;
  append_utf8(text, out);
  return {out.begin(), out.end()};
}

void Stat::read(WireReader& fields) {
  WireField field;
  while (fields.next(field)) {
    if (field.number == 1 && field.type == WireType::Varint) {
      name = field.value;
      continue;
    }
    if (field.number < 2 || field.number > 7) continue;
    constexpr Stat::Kind kKinds[] = {Stat::Kind::Real, Stat::Kind::Unsigned, Stat::Kind::Signed,
                                     Stat::Kind::Text, Stat::Kind::Bytes,    Stat::Kind::Reference};
    constexpr WireType kTypes[] = {WireType::Fixed64, WireType::Varint, WireType::Varint,
                                   WireType::Bytes,   WireType::Bytes,  WireType::Varint};
    if (field.type != kTypes[field.number - 2]) continue;
    kind = kKinds[field.number - 2];
    bits = field.value;
    bytes = field.bytes;
  }
}

StatReader::StatReader(const std::vector<std::string>& numbers,
                       const std::vector<std::string>& texts, StringPool& pool)
    : pool_(pool), number_columns_(numbers.size()), text_columns_(texts.size()) {
  for (size_t i = 0; i < numbers.size(); ++i) numbers_[numbers[i]] = static_cast<int>(i);
  for (size_t i = 0; i < texts.size(); ++i) texts_[texts[i]] = static_cast<int>(i);
}

void StatReader::prepare(StatColumns& columns) const {
  columns.numbers.assign(number_columns_, {kNoNumber, {}});
  columns.texts.assign(text_columns_, {-1, {}});
}

void StatReader::forget_names() {
  names_.clear();
  name_rows_ = {};
}

void StatReader::add_name(uint64_t id, std::string text) {
  StatName name;
  name.text = std::move(text);
  const auto number = numbers_.find(name.text);
  if (number != numbers_.end()) name.number = number->second;
  const auto column = texts_.find(name.text);
  if (column != texts_.end()) name.column_text = column->second;
  name_rows_.set(id, static_cast<int32_t>(names_.size()));
  names_.push_back(std::move(name));
}

StatReader::StatName* StatReader::name_of(uint64_t id) {
  const int32_t row = name_rows_.find(id);
  return row < 0 ? nullptr : &names_[static_cast<size_t>(row)];
}

const std::string* StatReader::name(const Stat& stat) {
  const StatName* const found = name_of(stat.name);
  return found == nullptr ? nullptr : &found->text;
}

std::optional<StatValue> StatReader::value(const Stat& stat) {
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
  return value;
}

void StatReader::set(StatColumns& columns, size_t row, const Stat& stat) {
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

std::optional<int64_t> StatReader::number_of(const Stat& stat) {
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

int32_t StatReader::text_of(const Stat& stat) {
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

void StatReader::append_value(std::string& out, const Stat& stat) {
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

void StatReader::add_rest(const StatName& name, const Stat& stat) {
  for (auto& [known, value] : rest_) {
    if (known == &name) {
      value = stat;  // written twice: the last one counts
      return;
    }
  }
  rest_.emplace_back(&name, stat);
}

void StatReader::flush_rest(StatColumns& columns, size_t row) {
  if (rest_.empty()) return;
  json_.assign(1, '{');
  for (const auto& [name, stat] : rest_) {
    if (json_.size() > 1) json_ += ',';
    append_json_string(json_, name->text);
    json_ += ':';
    append_value(json_, stat);
  }
  json_ += '}';
  rest_.clear();
  columns.rest.set(row, pool_.intern(json_));
}

int32_t StatReader::intern(std::string_view text) {
  bytes_.clear();
  append_utf8(text, bytes_);
  return pool_.intern({bytes_.data(), bytes_.size()});
}

}  // namespace dctx::scan
