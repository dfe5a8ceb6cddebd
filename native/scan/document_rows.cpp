#include "scan/document_rows.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "common/utf8.hpp"
#include "scan/json_text.hpp"
#include "scan/value.hpp"

namespace dctx::scan {
namespace {

// A number written as a text: decimal, or hexadecimal after 0x.
int64_t integer_of(std::string_view text) {
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    uint64_t bits = 0;
    for (const char c : text.substr(2)) {
      const int digit = hex_digit(c);
      if (digit < 0 || (bits >> 60) != 0) return CellColumn::kNullInteger;
      bits = bits << 4 | static_cast<uint64_t>(digit);
    }
    return static_cast<int64_t>(bits);
  }
  return parse_integer(text).value_or(CellColumn::kNullInteger);
}

void grow(CellColumn& column) {
  switch (column.kind) {
    case CellKind::Integer:
      column.integers.push_back(CellColumn::kNullInteger);
      break;
    case CellKind::Real:
      column.reals.push_back(std::numeric_limits<double>::quiet_NaN());
      break;
    case CellKind::Text:
      column.begin.push_back(0);
      column.size.push_back(-1);
      break;
  }
}

}  // namespace

TextData CellColumn::texts() const {
  TextData out;
  out.bytes.reserve(bytes.size());
  for (size_t row = 0; row < size.size(); ++row) {
    if (size[row] < 0) {
      out.push_null();
    } else {
      out.push_back({bytes.data() + begin[row], static_cast<size_t>(size[row])});
    }
  }
  return out;
}

DocumentRows::DocumentRows(const DocumentPlan& plan) : plan_(plan) {
  for (const TableAsk& ask : plan.tables()) {
    RowTable table;
    int key_column = -1;
    bool scalars = false;
    for (size_t c = 0; c < ask.cells.size(); ++c) {
      CellColumn column;
      column.kind = ask.cells[c].kind;
      table.columns.push_back(std::move(column));
      if (ask.cells[c].path == "@key") key_column = static_cast<int>(c);
      scalars |= ask.cells[c].path.empty();
    }
    tables_.push_back(std::move(table));
    key_columns_.push_back(key_column);
    of_scalars_.push_back(scalars ? 1 : 0);
  }
  current_.assign(tables_.size(), -1);
}

int DocumentRows::place() {
  if (frames_.empty()) return 0;
  Frame& frame = frames_.back();
  if (frame.node < 0) return -1;
  if (frame.array) return plan_.below(frame.node, frame.elements++);
  return plan_.below(frame.node, key_);
}

int64_t DocumentRows::begin_row(int table) {
  RowTable& into = tables_[static_cast<size_t>(table)];
  const auto row = static_cast<int64_t>(into.rows++);
  for (CellColumn& column : into.columns) grow(column);
  into.outer.push_back(outer_);
  current_[static_cast<size_t>(table)] = row;
  const int key_column = key_columns_[static_cast<size_t>(table)];
  if (key_column >= 0 && !frames_.empty() && !frames_.back().array) {
    Scalar key;
    key.kind = Scalar::Kind::Text;
    key.text = key_;
    set({static_cast<uint32_t>(table), static_cast<uint32_t>(key_column)}, row, key);
  }
  return row;
}

void DocumentRows::open(bool array) {
  Frame frame{place(), array};
  if (frame.node >= 0 && !array) {
    const int table = plan_.node(frame.node).table;
    if (table >= 0) {
      frame.table = table;
      frame.row_before = current_[static_cast<size_t>(table)];
      frame.outer_before = outer_;
      outer_ = static_cast<int32_t>(begin_row(table));
      tables_[static_cast<size_t>(table)].open += 1;
    }
  }
  frames_.push_back(frame);
}

void DocumentRows::close() {
  const Frame frame = frames_.back();
  frames_.pop_back();
  if (frame.table < 0) return;
  const auto table = static_cast<size_t>(frame.table);
  outer_ = frame.outer_before;
  current_[table] = frame.row_before;
  tables_[table].open -= 1;
}

void DocumentRows::key(std::string_view text) { key_.assign(text.data(), text.size()); }

void DocumentRows::value(const Scalar& value) {
  const int at = place();
  if (at < 0) return;
  const DocumentPlan::Node& node = plan_.node(at);
  const bool record = node.table >= 0 && of_scalars_[static_cast<size_t>(node.table)] != 0;
  int64_t before = -1;
  if (record) {
    before = current_[static_cast<size_t>(node.table)];
    begin_row(node.table);
  }
  for (const DocumentPlan::Cell cell : node.cells) {
    const int64_t row = current_[cell.table];
    if (row >= 0 && (record || node.table != static_cast<int>(cell.table))) set(cell, row, value);
  }
  if (record) current_[static_cast<size_t>(node.table)] = before;
}

void DocumentRows::set(DocumentPlan::Cell cell, int64_t at, const Scalar& value) {
  CellColumn& column = tables_[cell.table].columns[cell.column];
  const auto row = static_cast<size_t>(at);
  const bool text = value.kind == Scalar::Kind::Text;
  const bool number = value.kind == Scalar::Kind::Integer || value.kind == Scalar::Kind::Real;
  switch (column.kind) {
    case CellKind::Integer:
      if (value.kind == Scalar::Kind::Integer) {
        column.integers[row] = value.integer;
      } else if (value.kind == Scalar::Kind::Real) {
        column.integers[row] = truncate(value.real).value_or(CellColumn::kNullInteger);
      } else {
        column.integers[row] = text ? integer_of(value.text) : CellColumn::kNullInteger;
      }
      break;
    case CellKind::Real:
      column.reals[row] = std::numeric_limits<double>::quiet_NaN();
      if (number) {
        column.reals[row] = value.real;
      } else if (text) {
        const std::optional<double> parsed = parse_real(value.text);
        if (parsed && std::isfinite(*parsed)) column.reals[row] = *parsed;
      }
      break;
    case CellKind::Text:
      if (text || number) {
        set_text(column, row, value);
      } else {
        column.size[row] = -1;
      }
      break;
  }
}

void DocumentRows::set_text(CellColumn& column, size_t row, const Scalar& value) {
  std::string plain;
  std::string_view text = value.text;
  if (value.escaped) {
    plain = unescape(text);
    text = plain;
  }
  const size_t begin = column.bytes.size();
  append_utf8(text, column.bytes);
  const size_t size = column.bytes.size() - begin;
  if (std::string_view(column.bytes.data() + begin, size) != text) ++repaired_;
  column.begin[row] = static_cast<int64_t>(begin);
  column.size[row] = static_cast<int64_t>(size);
}

}  // namespace dctx::scan
