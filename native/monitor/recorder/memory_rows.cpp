#include "monitor/recorder/memory_rows.hpp"

#include "monitor/recorder/table.hpp"
#include "tree/hash.hpp"

namespace dctx::monitor {

std::string memory_table(const ThreadRecord& record, uint32_t nodes,
                         std::vector<uint64_t>& written) {
  std::vector<int64_t> node, type, device, count, bytes, freed, peak;
  const size_t size = record.allocations.size();
  written.resize(size, 0);
  for (size_t row = 0; row < size; ++row) {
    const AllocationSums sums = record.allocations.view(row);
    const uint64_t hash =
        mix_bits(sums.count ^ mix_bits(static_cast<uint64_t>(sums.freed_bytes))) | 1;
    if (hash == written[row] || sums.node >= nodes) continue;
    written[row] = hash;
    node.push_back(sums.node);
    type.push_back(sums.device_type);
    device.push_back(sums.device);
    count.push_back(static_cast<int64_t>(sums.count));
    bytes.push_back(sums.bytes);
    freed.push_back(sums.freed_bytes);
    peak.push_back(sums.peak_bytes);
  }
  if (node.empty()) return "";
  Table table(node.size(), 0, record.index);
  table.integers(0, node);
  table.integers(1, type);
  table.integers(2, device);
  table.integers(3, count);
  table.integers(4, bytes);
  table.integers(5, freed);
  table.integers(6, peak);
  return table.content();
}

}  // namespace dctx::monitor
