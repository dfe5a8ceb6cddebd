// Tables exported through the Arrow C stream interface.
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "common/arrow_stream.hpp"

using namespace dctx;

namespace {

bool is_valid(const ArrowArray& array, size_t row) {
  const auto* bits = static_cast<const uint8_t*>(array.buffers[0]);
  return bits == nullptr || (bits[row / 8] >> (row % 8) & 1) != 0;
}

std::string text_at(const ArrowArray& array, size_t row) {
  const auto* offsets = static_cast<const int64_t*>(array.buffers[1]) + array.offset;
  const auto* bytes = static_cast<const char*>(array.buffers[2]);
  return {bytes + offsets[row], bytes + offsets[row + 1]};
}

struct Source {
  std::vector<int32_t> numbers;
  std::vector<double> reals;
  std::vector<uint8_t> flags;
  std::vector<uint32_t> order;
  std::shared_ptr<TextData> texts = std::make_shared<TextData>();
};

std::shared_ptr<StreamTable> make_table(const std::shared_ptr<Source>& source, bool ordered) {
  auto table = std::make_shared<StreamTable>();
  table->rows = source->numbers.size();
  StreamColumn numbers;
  numbers.name = "number";
  numbers.type = ColumnType::I32;
  numbers.values = source->numbers.data();
  numbers.owner = source;
  numbers.null = 5;
  StreamColumn reals;
  reals.name = "real";
  reals.type = ColumnType::F64;
  reals.values = source->reals.data();
  reals.owner = source;
  StreamColumn flags;
  flags.name = "flag";
  flags.type = ColumnType::Bool;
  flags.values = source->flags.data();
  flags.owner = source;
  StreamColumn texts;
  texts.name = "text";
  texts.type = ColumnType::Text;
  texts.texts = source->texts;
  table->columns = {numbers, reals, flags, texts};
  if (ordered) {
    table->order = source->order.data();
    table->order_owner = source;
    table->rows = source->order.size();
  }
  return table;
}

std::shared_ptr<Source> make_source(size_t rows) {
  auto source = std::make_shared<Source>();
  source->numbers.resize(rows);
  std::iota(source->numbers.begin(), source->numbers.end(), 0);
  for (size_t i = 0; i < rows; ++i) {
    source->reals.push_back(i % 4 == 1 ? std::nan("") : static_cast<double>(i));
    source->flags.push_back(i % 3 == 0);
    if (i % 5 == 2) {
      source->texts->push_null();
    } else {
      source->texts->push_back("text " + std::to_string(i));
    }
  }
  for (size_t i = rows; i > 0; i -= 2) source->order.push_back(static_cast<uint32_t>(i - 1));
  return source;
}

void test_schema(const StreamTable& table) {
  ArrowSchema schema;
  export_schema(table, &schema);
  CHECK_EQUAL(std::string(schema.format), std::string("+s"));
  CHECK_EQUAL(schema.n_children, int64_t{4});
  CHECK_EQUAL(std::string(schema.children[0]->name), std::string("number"));
  CHECK_EQUAL(std::string(schema.children[0]->format), std::string("i"));
  CHECK_EQUAL(std::string(schema.children[3]->format), std::string("U"));
  // A consumer may move a child out and release the parent first.
  ArrowSchema child = *schema.children[3];
  schema.children[3]->release = nullptr;
  schema.release(&schema);
  CHECK(schema.release == nullptr);
  CHECK_EQUAL(std::string(child.name), std::string("text"));
  child.release(&child);
}

void test_stream(bool ordered) {
  const size_t rows = 2 * kBatchRows + 14;
  std::weak_ptr<Source> alive;
  ArrowArrayStream stream;
  {
    auto source = make_source(rows);
    alive = source;
    const auto table = make_table(source, ordered);
    test_schema(*table);
    export_stream(table, &stream);
  }
  const size_t expected = ordered ? rows / 2 : rows;
  size_t row = 0;
  ArrowArray kept_child{};
  while (true) {
    ArrowArray batch;
    CHECK_EQUAL(stream.get_next(&stream, &batch), 0);
    if (batch.release == nullptr) break;
    const auto length = static_cast<size_t>(batch.length);
    CHECK_EQUAL(length, std::min(kBatchRows, expected - row));
    int64_t nulls[4] = {};
    for (size_t i = 0; i < length; ++i, ++row) {
      const size_t source_row = ordered ? rows - 1 - 2 * row : row;
      const auto& number = *batch.children[0];
      const auto& real = *batch.children[1];
      const auto& flag = *batch.children[2];
      const auto& text = *batch.children[3];
      const bool ok =
          static_cast<const int32_t*>(number.buffers[1])[i] == static_cast<int32_t>(source_row) &&
          is_valid(number, i) == (source_row != 5) && is_valid(real, i) == (source_row % 4 != 1) &&
          (static_cast<const uint8_t*>(flag.buffers[1])[i / 8] >> (i % 8) & 1) ==
              (source_row % 3 == 0 ? 1 : 0) &&
          is_valid(text, i) == (source_row % 5 != 2) &&
          (!is_valid(text, i) || text_at(text, i) == "text " + std::to_string(source_row));
      if (!ok) CHECK_EQUAL(source_row, std::numeric_limits<size_t>::max());
      for (size_t c = 0; c < 4; ++c) nulls[c] += is_valid(*batch.children[c], i) ? 0 : 1;
    }
    for (size_t c = 0; c < 4; ++c) CHECK_EQUAL(batch.children[c]->null_count, nulls[c]);
    if (kept_child.release == nullptr) {
      kept_child = *batch.children[0];
      batch.children[0]->release = nullptr;
    }
    batch.release(&batch);
  }
  CHECK_EQUAL(row, expected);
  stream.release(&stream);
  CHECK(stream.release == nullptr);
  CHECK(!alive.expired());  // the child that was moved out holds its buffers
  const auto first = static_cast<int32_t>(ordered ? rows - 1 : 0);
  CHECK_EQUAL(static_cast<const int32_t*>(kept_child.buffers[1])[0], first);
  kept_child.release(&kept_child);
  CHECK(alive.expired());
}

void test_empty() {
  ArrowArrayStream stream;
  export_stream(make_table(make_source(0), false), &stream);
  ArrowSchema schema;
  CHECK_EQUAL(stream.get_schema(&stream, &schema), 0);
  CHECK_EQUAL(schema.n_children, int64_t{4});
  schema.release(&schema);
  ArrowArray batch;
  CHECK_EQUAL(stream.get_next(&stream, &batch), 0);
  CHECK(batch.release == nullptr);
  stream.release(&stream);
}

}  // namespace

int main() {
  test_stream(false);
  test_stream(true);
  test_empty();
  return dctx_test::report();
}
