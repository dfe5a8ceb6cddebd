#include "common/arrow_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/buffer.hpp"

namespace dctx {
namespace {

constexpr uint8_t kNoBytes[8] = {};  // buffers of no length still need an address

// What one exported array owns. Children own their part alone: a consumer may move them out.
struct ArrayData {
  Buffer values;
  Buffer text_bytes;
  Buffer validity;
  const void* buffers[3] = {nullptr, nullptr, nullptr};
  int64_t null_count = 0;
  std::shared_ptr<const StreamTable> table;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> child_pointers;
};

void release_array(ArrowArray* array) {
  for (int64_t i = 0; i < array->n_children; ++i) {
    ArrowArray* child = array->children[i];
    if (child->release != nullptr) child->release(child);
  }
  delete static_cast<ArrayData*>(array->private_data);
  array->release = nullptr;
}

void finish(std::unique_ptr<ArrayData> data, size_t length, int64_t buffers, ArrowArray* out) {
  *out = {static_cast<int64_t>(length),
          data->null_count,
          0,
          buffers,
          static_cast<int64_t>(data->children.size()),
          data->buffers,
          data->child_pointers.data(),
          nullptr,
          release_array,
          nullptr};
  out->private_data = data.release();
}

// Sets bit i where valid(i); leaves the buffer out when every value is valid.
template <typename Valid>
void set_validity(ArrayData& data, size_t length, const Valid& valid) {
  Buffer bitmap(std::max<size_t>((length + 7) / 8, 1));
  auto* bits = static_cast<uint8_t*>(bitmap.data());
  std::memset(bits, 0, bitmap.size());
  size_t count = 0;
  for (size_t i = 0; i < length; ++i) {
    const bool is_valid = valid(i);
    count += is_valid ? 1 : 0;
    bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | (is_valid ? 1U << (i % 8) : 0U));
  }
  data.null_count = static_cast<int64_t>(length - count);
  if (data.null_count == 0) return;
  data.validity = std::move(bitmap);
  data.buffers[0] = data.validity.data();
}

// The rows of one batch: row(i) of the table is row i of the batch.
struct Batch {
  const StreamTable& table;
  size_t first;
  size_t length;
  size_t row(size_t i) const { return table.order == nullptr ? first + i : table.order[first + i]; }
};

template <typename T>
void fill_picked(const StreamColumn& column, const Batch& batch, ArrayData& data) {
  const auto* source = static_cast<const T*>(column.values);
  data.values = Buffer(batch.length * sizeof(T));
  auto* picked = static_cast<T*>(data.values.data());
  data.buffers[1] = picked;
  bool all = true;
  for (size_t i = 0; i < batch.length; ++i) {
    const int32_t at = column.index[batch.row(i)];
    all = all && at >= 0;
    picked[i] = at < 0 ? T() : source[at];
  }
  if (all && !column.null) return;
  set_validity(data, batch.length, [&](size_t i) {
    if (column.index[batch.row(i)] < 0) return false;
    return !column.null || picked[i] != static_cast<T>(*column.null);
  });
}

void fill_count(const StreamColumn& column, const Batch& batch, ArrayData& data) {
  data.values = Buffer(batch.length * sizeof(int32_t));
  auto* values = static_cast<int32_t*>(data.values.data());
  std::iota(values, values + batch.length, column.first + static_cast<int32_t>(batch.first));
  data.buffers[1] = values;
}

template <typename T>
void fill_values(const StreamColumn& column, const Batch& batch, ArrayData& data) {
  if (column.index != nullptr) return fill_picked<T>(column, batch, data);
  const auto* source = static_cast<const T*>(column.values);
  const T* values = source + batch.first;
  if (batch.table.order != nullptr) {
    data.values = Buffer(batch.length * sizeof(T));
    auto* gathered = static_cast<T*>(data.values.data());
    const uint32_t* order = batch.table.order + batch.first;
    for (size_t i = 0; i < batch.length; ++i) gathered[i] = source[order[i]];
    values = gathered;
  }
  data.buffers[1] = values;
  if constexpr (std::is_same_v<T, double>) {
    const double null = column.null ? static_cast<double>(*column.null) : std::nan("");
    set_validity(data, batch.length,
                 [&](size_t i) { return !std::isnan(values[i]) && values[i] != null; });
  } else if (column.null) {
    const int64_t null = *column.null;
    set_validity(data, batch.length, [&](size_t i) { return int64_t{values[i]} != null; });
  }
}

void fill_bools(const StreamColumn& column, const Batch& batch, ArrayData& data) {
  const auto* source = static_cast<const uint8_t*>(column.values);
  data.values = Buffer(std::max<size_t>((batch.length + 7) / 8, 1));
  auto* bits = static_cast<uint8_t*>(data.values.data());
  std::memset(bits, 0, data.values.size());
  for (size_t i = 0; i < batch.length; ++i) {
    if (source[batch.row(i)] != 0) bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | 1U << (i % 8));
  }
  data.buffers[1] = bits;
}

void fill_texts(const StreamColumn& column, const Batch& batch, ArrayData& data) {
  const TextData& texts = *column.texts;
  const char* bytes = texts.bytes.data();
  if (batch.table.order == nullptr) {
    data.buffers[1] = texts.offsets.data() + batch.first;
  } else {
    data.values = Buffer((batch.length + 1) * sizeof(int64_t));
    auto* offsets = static_cast<int64_t*>(data.values.data());
    offsets[0] = 0;
    for (size_t i = 0; i < batch.length; ++i) {
      offsets[i + 1] = offsets[i] + static_cast<int64_t>(texts[batch.row(i)].size());
    }
    data.text_bytes = Buffer(static_cast<size_t>(offsets[batch.length]));
    auto* gathered = static_cast<char*>(data.text_bytes.data());
    for (size_t i = 0; i < batch.length; ++i) {
      const std::string_view text = texts[batch.row(i)];
      if (!text.empty()) std::memcpy(gathered + offsets[i], text.data(), text.size());
    }
    data.buffers[1] = offsets;
    bytes = gathered;
  }
  data.buffers[2] = bytes != nullptr ? bytes : reinterpret_cast<const char*>(kNoBytes);
  if (!texts.valid.empty()) {
    set_validity(data, batch.length, [&](size_t i) { return texts.valid[batch.row(i)] != 0; });
  }
}

void fill(const StreamColumn& column, const Batch& batch, ArrayData& data) {
  switch (column.type) {
    case ColumnType::I8:
      return fill_values<int8_t>(column, batch, data);
    case ColumnType::I16:
      return fill_values<int16_t>(column, batch, data);
    case ColumnType::I32:
      if (column.values == nullptr) return fill_count(column, batch, data);
      return fill_values<int32_t>(column, batch, data);
    case ColumnType::I64:
      return fill_values<int64_t>(column, batch, data);
    case ColumnType::U8:
      return fill_values<uint8_t>(column, batch, data);
    case ColumnType::U16:
      return fill_values<uint16_t>(column, batch, data);
    case ColumnType::U32:
      return fill_values<uint32_t>(column, batch, data);
    case ColumnType::F64:
      return fill_values<double>(column, batch, data);
    case ColumnType::Bool:
      return fill_bools(column, batch, data);
    case ColumnType::Text:
      return fill_texts(column, batch, data);
  }
}

}  // namespace

void export_batch(const std::shared_ptr<const StreamTable>& table, size_t first, size_t length,
                  ArrowArray* out) {
  const Batch batch{*table, first, length};
  auto data = std::make_unique<ArrayData>();
  data->children.resize(table->columns.size());
  for (ArrowArray& child : data->children) data->child_pointers.push_back(&child);
  finish(std::move(data), length, 1, out);
  try {
    for (size_t i = 0; i < table->columns.size(); ++i) {
      const StreamColumn& column = table->columns[i];
      auto child = std::make_unique<ArrayData>();
      child->table = table;
      fill(column, batch, *child);
      finish(std::move(child), length, column.type == ColumnType::Text ? 3 : 2, out->children[i]);
    }
  } catch (...) {
    out->release(out);
    throw;
  }
}

}  // namespace dctx
