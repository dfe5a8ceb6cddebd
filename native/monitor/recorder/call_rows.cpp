#include "monitor/recorder/call_rows.hpp"

#include "monitor/recorder/table.hpp"

namespace dctx::monitor {
namespace {

int64_t id_or_none(uint32_t id) { return id == kNoNode ? -1 : int64_t{id}; }

}  // namespace

std::string argument_table(const ArgumentTable& arguments, uint32_t first, uint32_t end) {
  std::vector<int64_t> shapes, types;
  for (uint32_t id = first; id < end; ++id) {
    const ArgumentSet set = arguments.view(id);
    shapes.push_back(id_or_none(set.shapes));
    types.push_back(id_or_none(set.types));
  }
  Table table(shapes.size(), first, 0);
  table.integers(0, shapes);
  table.integers(1, types);
  return table.content();
}

std::string call_table(const ThreadRecord& record, size_t size, uint32_t nodes,
                       std::vector<uint64_t>& written) {
  std::vector<int64_t> node, set, count, sum;
  written.resize(size, 0);
  for (size_t row = 0; row < size; ++row) {
    const ArgumentCalls calls = record.arguments.view(row);
    if (calls.count == written[row] || calls.node >= nodes) continue;
    written[row] = calls.count;
    node.push_back(calls.node);
    set.push_back(id_or_none(calls.set));
    count.push_back(static_cast<int64_t>(calls.count));
    sum.push_back(calls.sum_ns);
  }
  if (node.empty()) return "";
  Table table(node.size(), 0, record.index);
  table.integers(0, node);
  table.integers(1, set);
  table.integers(2, count);
  table.integers(3, sum);
  return table.content();
}

}  // namespace dctx::monitor
