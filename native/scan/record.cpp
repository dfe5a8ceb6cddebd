#include "scan/record.hpp"

#include <cstring>
#include <limits>

#include "common/utf8.hpp"
#include "scan/bytes.hpp"

namespace dctx::scan {
namespace {

// The integer types (1-6, and the constants 8 and 9): from the eight bytes at the value,
// (bytes >> shift & mask) + constant.
constexpr uint32_t kIntegerTypes = 0b11'0111'1110;
constexpr int kShift[12] = {0, 56, 48, 40, 32, 16, 0, 0, 0, 0, 0, 0};
constexpr int64_t kMask[12] = {0, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0};
constexpr int64_t kConstant[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0};
constexpr uint64_t kReal = 7;

template <typename T>
void store(void* out, uint64_t row, T value) {
  static_cast<T*>(out)[row] = value;
}

}  // namespace

// What a row adds to, to take a damaged row back.
struct RecordDecoder::Mark {
  std::vector<uint64_t> nulls;
  std::vector<size_t> texts;
  uint64_t converted;
};

RecordDecoder::RecordDecoder(const PageFile& file, const RecordPlan& plan)
    : file_(file),
      plan_(plan),
      overflow_(file),
      overflow_pages_left_(file.pages_present()),
      nulls_(plan.slots),
      texts_(plan.slots) {}

RecordDecoder::Mark RecordDecoder::mark() const {
  Mark out{nulls_, {}, converted_};
  for (const TextData& texts : texts_) out.texts.push_back(texts.size());
  return out;
}

void RecordDecoder::rewind(const Mark& to) {
  nulls_ = to.nulls;
  converted_ = to.converted;
  for (size_t i = 0; i < texts_.size(); ++i) {
    TextData& texts = texts_[i];
    texts.offsets.resize(to.texts[i] + 1);
    texts.bytes.resize(static_cast<size_t>(texts.offsets.back()));
    if (!texts.valid.empty()) texts.valid.resize(to.texts[i]);
  }
}

bool RecordDecoder::leaf(uint32_t page, const uint8_t* bytes, uint64_t first_row, uint64_t rows) {
  const uint32_t start = header_offset(page);
  const LeafHeader header = leaf_header(file_, page, bytes + start);
  if (header.error != nullptr || header.cells != rows) {
    damage_ = {page, start, header.error != nullptr ? header.error : "changed while being read"};
    return false;
  }
  const uint32_t pointers = start + 8;
  const auto cells_begin = pointers + 2 * static_cast<uint32_t>(rows);
  const Mark before = mark();
  while (true) {
    uint32_t used = cells_begin;
    uint64_t done = 0;
    const char* error = nullptr;
    uint32_t offset = 0;
    for (; done < rows; ++done) {
      const auto pointer = pointers + 2 * static_cast<uint32_t>(done);
      offset = load16(bytes + pointer);
      if (offset < cells_begin || offset >= file_.usable_size()) {
        error = "cell pointer outside the page";
        offset = pointer;
      } else {
        error = cell(bytes, offset, first_row + done, used);
      }
      if (error != nullptr) break;
    }
    if (error == nullptr) {
      rows_done_ += rows;
      return !damage_;
    }
    // The damaged row may have left values behind: decode the page again up to it.
    damage_ = {page, offset, error};
    rewind(before);
    rows = done;
  }
}

__attribute__((always_inline)) inline void RecordDecoder::integer(const Field& field, int64_t value,
                                                                  uint64_t row) {
  switch (field.kind) {
    case ColumnKind::I64:
      store(field.out, row, value);
      break;
    case ColumnKind::I32: {
      constexpr int64_t kLow = std::numeric_limits<int32_t>::min();
      constexpr int64_t kHigh = std::numeric_limits<uint32_t>::max();
      if (value < kLow || value > kHigh) ++converted_;
      store(field.out, row, static_cast<int32_t>(static_cast<uint32_t>(value)));
      break;
    }
    case ColumnKind::F64:
      store(field.out, row, static_cast<double>(value));
      break;
    case ColumnKind::Text:
      ++converted_;
      texts_[field.slot].push_back(std::to_string(value));
      break;
    case ColumnKind::Hex:
      ++converted_;
      null(field, row);
      break;
  }
}

const char* RecordDecoder::cell(const uint8_t* page, uint32_t offset, uint64_t row,
                                uint32_t& used) {
  const uint32_t usable = file_.usable_size();
  const uint8_t* begin = page + offset;
  const uint8_t* end = page + usable;
  uint64_t size = 0;
  uint64_t rowid = 0;
  const uint8_t* p = read_varint(begin, end, size);
  if (p != nullptr) p = read_varint(p, end, rowid);
  if (p == nullptr) return "cell runs past the page";
  const auto room = static_cast<uint64_t>(end - p);
  Payload payload{p, p + size};
  const uint64_t max_local = usable - 35;
  if (size <= max_local) {
    if (size > room) return "cell runs past the page";
    used += static_cast<uint32_t>(p - begin) + static_cast<uint32_t>(size);
  } else {
    if (size > kMaxPayload) return "record longer than SQLite allows";
    const uint64_t min_local = (usable - 12) * uint64_t{32} / 255 - 23;
    const uint64_t fitted = min_local + (size - min_local) % (usable - 4);
    const uint64_t local = fitted <= max_local ? fitted : min_local;
    if (local + 4 > room) return "cell runs past the page";
    used += static_cast<uint32_t>(p - begin) + static_cast<uint32_t>(local) + 4;
    if (const char* error = gather(p, local, size, p + local, payload)) return error;
  }
  // Cells do not overlap: without this check a small file could claim endless texts.
  if (used > usable) return "cells overlap";
  for (const RowidField& field : plan_.rowids) {
    const Field as_field{true, field.kind, field.slot, field.out, 0, 0, {}};
    integer(as_field, static_cast<int64_t>(rowid), row);
  }
  return record(payload, row);
}

const char* RecordDecoder::record(Payload payload, uint64_t row) {
  uint64_t header_size = 0;
  const uint8_t* header = read_varint(payload.begin, payload.end, header_size);
  if (header == nullptr || header_size > static_cast<uint64_t>(payload.end - payload.begin) ||
      payload.begin + header_size < header) {
    return "record header longer than the record";
  }
  const uint8_t* const header_end = payload.begin + header_size;
  const uint8_t* body = header_end;
  for (const Field& field : plan_.fields) {
    if (header >= header_end) {
      if (field.wanted) missing(field, row);
      continue;
    }
    uint64_t type = *header;
    if (type < 0x80) {
      ++header;
    } else {
      header = read_varint(header, header_end, type);
      if (header == nullptr) return "record header cut";
    }
    const auto room = static_cast<uint64_t>(payload.end - body);
    if (type >= 12) {
      const uint64_t size = (type - 12) / 2;
      if (size > room) return "value longer than the record";
      if (field.wanted) text(field, body, size, type % 2 == 0, row);
      body += size;
      continue;
    }
    const uint64_t size = kValueBytes[type];
    if (size > room) return type >= 10 ? "reserved serial type" : "value longer than the record";
    if (field.wanted) {
      if ((kIntegerTypes >> type & 1U) != 0) {
        // Past the value itself this reads into the slack or the neighbouring cell: masked off.
        const auto word = static_cast<int64_t>(load64(body));
        const int64_t value = ((word >> kShift[type]) & kMask[type]) + kConstant[type];
        if (field.kind == ColumnKind::I64) {
          store(field.out, row, value);
        } else {
          integer(field, value, row);
        }
      } else if (type == kReal) {
        const uint64_t bits = load64(body);
        double value;
        std::memcpy(&value, &bits, 8);
        real(field, value, row);
      } else {
        null(field, row);
      }
    }
    body += size;
  }
  return nullptr;
}

void RecordDecoder::real(const Field& field, double value, uint64_t row) {
  if (field.kind == ColumnKind::F64) {
    store(field.out, row, value);
  } else if (field.kind == ColumnKind::Text) {
    ++converted_;
    texts_[field.slot].push_back(format_real(value));
  } else if (field.kind == ColumnKind::Hex) {
    ++converted_;
    null(field, row);
  } else if (const auto whole = truncate(value)) {
    const bool exact = static_cast<double>(*whole) == value;
    const uint64_t counted = converted_ + 1;
    integer(field, *whole, row);
    if (!exact) converted_ = counted;  // once, also where it does not fit an i32 column either
  } else {
    ++converted_;
    null(field, row);
  }
}

void RecordDecoder::text(const Field& field, const uint8_t* bytes, size_t size, bool blob,
                         uint64_t row) {
  const std::string_view view(reinterpret_cast<const char*>(bytes), size);
  if (holds_text(field.kind)) {
    TextData& texts = texts_[field.slot];
    if (field.kind == ColumnKind::Hex) {
      append_hex(view, texts.bytes);
    } else {
      if (blob) ++converted_;
      append_utf8(view, texts.bytes);
    }
    texts.offsets.push_back(static_cast<int64_t>(texts.bytes.size()));
    if (!texts.valid.empty()) texts.valid.push_back(1);
    return;
  }
  const uint64_t counted = ++converted_;
  if (blob) {
    null(field, row);
  } else if (field.kind == ColumnKind::F64) {
    if (const auto value = parse_real(view)) {
      store(field.out, row, *value);
    } else {
      null(field, row);
    }
  } else if (const auto value = parse_integer(view)) {
    integer(field, *value, row);
  } else {
    null(field, row);
  }
  converted_ = counted;
}

void RecordDecoder::null(const Field& field, uint64_t row) {
  ++nulls_[field.slot];
  switch (field.kind) {
    case ColumnKind::I64:
      store(field.out, row, field.null_integer);
      break;
    case ColumnKind::I32:
      store(field.out, row, static_cast<int32_t>(field.null_integer));
      break;
    case ColumnKind::F64:
      store(field.out, row, field.null_real);
      break;
    case ColumnKind::Text:
    case ColumnKind::Hex:
      texts_[field.slot].push_null();
      break;
  }
}

void RecordDecoder::missing(const Field& field, uint64_t row) {
  const Value& value = field.default_value;
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    integer(field, *whole, row);
  } else if (const auto* number = std::get_if<double>(&value)) {
    real(field, *number, row);
  } else if (const auto* string = std::get_if<std::string>(&value)) {
    text(field, reinterpret_cast<const uint8_t*>(string->data()), string->size(), false, row);
  } else if (const auto* blob = std::get_if<Blob>(&value)) {
    text(field, reinterpret_cast<const uint8_t*>(blob->bytes.data()), blob->bytes.size(), true,
         row);
  } else {
    null(field, row);
  }
}

}  // namespace dctx::scan
