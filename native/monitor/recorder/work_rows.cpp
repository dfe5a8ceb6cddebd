#include "monitor/recorder/work_rows.hpp"

#include "monitor/engine/context.hpp"
#include "monitor/recorder/table.hpp"

namespace dctx::monitor {
namespace {

using gpu::WorkRow;

int64_t thread_of(uint64_t context) {
  const PackedContext packed{context};
  return packed.known() ? int64_t{packed.thread()} : -1;
}

int64_t node_of(uint64_t context) {
  const PackedContext packed{context};
  return packed.known() ? static_cast<int64_t>(packed.node()) : 0;
}

}  // namespace

std::string work_content(const std::vector<WorkRow>& rows) {
  Table table(rows.size(), 0, 0);
  uint8_t next = 0;
  const auto column = [&](auto&& value) {
    std::vector<int64_t> values;
    values.reserve(rows.size());
    for (const WorkRow& row : rows) values.push_back(static_cast<int64_t>(value(row)));
    table.integers(next++, values);
  };
  column([](const WorkRow& row) { return row.row; });
  column([](const WorkRow& row) { return thread_of(row.key.context); });
  column([](const WorkRow& row) { return node_of(row.key.context); });
  column([](const WorkRow& row) { return static_cast<int64_t>(row.key.kind); });
  column([](const WorkRow& row) { return row.key.name; });
  column([](const WorkRow& row) { return row.key.device; });
  column([](const WorkRow& row) { return thread_of(row.key.alternate); });
  column([](const WorkRow& row) { return node_of(row.key.alternate); });
  column([](const WorkRow& row) { return row.key.graph; });
  column([](const WorkRow& row) { return row.sums.count; });
  column([](const WorkRow& row) { return row.sums.sum_ns; });
  column([](const WorkRow& row) { return row.sums.min_ns; });
  column([](const WorkRow& row) { return row.sums.max_ns; });
  std::vector<double> squares;
  for (const WorkRow& row : rows) squares.push_back(row.sums.sum_sq);
  table.numbers(next++, squares);
  column([](const WorkRow& row) { return row.sums.bytes; });
  for (size_t axis = 0; axis < 3; ++axis) {
    column([axis](const WorkRow& row) { return row.sums.grid[axis]; });
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    column([axis](const WorkRow& row) { return row.sums.block[axis]; });
  }
  column([](const WorkRow& row) { return row.sums.registers; });
  column([](const WorkRow& row) { return row.sums.shared_bytes; });
  return table.content();
}

}  // namespace dctx::monitor
