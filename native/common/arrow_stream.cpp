#include "common/arrow_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "common/arrow_arrays.hpp"

namespace dctx {
namespace {

constexpr int64_t kNullable = 2;

const char* format_of(ColumnType type) {
  switch (type) {
    case ColumnType::I8:
      return "c";
    case ColumnType::I16:
      return "s";
    case ColumnType::I32:
      return "i";
    case ColumnType::I64:
      return "l";
    case ColumnType::U8:
      return "C";
    case ColumnType::U16:
      return "S";
    case ColumnType::U32:
      return "I";
    case ColumnType::F64:
      return "g";
    case ColumnType::Bool:
      return "b";
    case ColumnType::Text:
      break;
  }
  return "U";  // 64-bit offsets: a batch may hold more than 2 GiB of text
}

// ---- schema

struct SchemaData {
  std::string name;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> child_pointers;
};

void release_schema(ArrowSchema* schema) {
  for (int64_t i = 0; i < schema->n_children; ++i) {
    ArrowSchema* child = schema->children[i];
    if (child->release != nullptr) child->release(child);
  }
  delete static_cast<SchemaData*>(schema->private_data);
  schema->release = nullptr;
}

void make_schema(const char* format, std::string name, size_t children, ArrowSchema* out) {
  auto data = std::make_unique<SchemaData>();
  data->name = std::move(name);
  data->children.resize(children);
  for (ArrowSchema& child : data->children) data->child_pointers.push_back(&child);
  *out = {format,
          data->name.c_str(),
          nullptr,
          kNullable,
          static_cast<int64_t>(children),
          data->child_pointers.data(),
          nullptr,
          release_schema,
          nullptr};
  out->private_data = data.release();
}

// ---- stream

struct StreamState {
  std::shared_ptr<const StreamTable> table;
  size_t next_row = 0;
  const char* error = nullptr;
};

StreamState& state_of(ArrowArrayStream* stream) {
  return *static_cast<StreamState*>(stream->private_data);
}

template <typename Work>
int guarded(ArrowArrayStream* stream, const Work& work) {
  try {
    work(state_of(stream));
    return 0;
  } catch (const std::bad_alloc&) {
    state_of(stream).error = "out of memory";
    return ENOMEM;
  }
}

void next_batch(StreamState& state, ArrowArray* out) {
  out->release = nullptr;  // the end of the stream
  const StreamTable& table = *state.table;
  if (state.next_row == table.rows) return;
  const size_t length = std::min(kBatchRows, table.rows - state.next_row);
  export_batch(state.table, state.next_row, length, out);
  state.next_row += length;
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  return guarded(stream, [&](StreamState& state) { export_schema(*state.table, out); });
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  return guarded(stream, [&](StreamState& state) { next_batch(state, out); });
}

const char* get_last_error(ArrowArrayStream* stream) { return state_of(stream).error; }

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<StreamState*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

void export_schema(const StreamTable& table, ArrowSchema* out) {
  make_schema("+s", "", table.columns.size(), out);
  out->flags = 0;
  try {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const StreamColumn& column = table.columns[i];
      make_schema(format_of(column.type), column.name, 0, out->children[i]);
    }
  } catch (...) {
    out->release(out);
    throw;
  }
}

void export_stream(std::shared_ptr<const StreamTable> table, ArrowArrayStream* out) {
  auto state = std::make_unique<StreamState>();
  state->table = std::move(table);
  *out = {get_schema, get_next, get_last_error, release_stream, state.release()};
}

}  // namespace dctx
