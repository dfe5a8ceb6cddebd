#include "monitor/gpu/work_table.hpp"

#include <algorithm>

#include "tree/hash.hpp"

namespace dctx::monitor::gpu {

size_t WorkTable::Hash::operator()(const WorkKey& key) const {
  uint64_t hash = mix_bits(key.context);
  hash = mix_bits(hash ^ key.alternate);
  hash = mix_bits(hash ^ key.graph);
  hash = mix_bits(hash ^ (uint64_t{key.name} << 32 | key.device));
  return mix_bits(hash ^ static_cast<uint64_t>(key.kind));
}

bool WorkTable::add(const WorkKey& key, const WorkRecord& record, uint64_t limit) {
  WorkKey place = key;
  auto known = ids_.find(place);
  const bool folded = known == ids_.end() && rows_.size() >= limit;
  if (folded) {
    place.name = 0;
    place.alternate = kNoContext;
    place.graph = 0;
    known = ids_.find(place);
  }
  if (known == ids_.end()) {
    const auto row = static_cast<uint32_t>(rows_.size());
    WorkSums sums;
    std::copy(record.grid, record.grid + 3, sums.grid);
    std::copy(record.block, record.block + 3, sums.block);
    sums.registers = record.registers;
    sums.shared_bytes = record.shared_bytes;
    rows_.push_back({row, place, sums});
    known = ids_.emplace(place, row).first;
  }
  WorkSums& sums = rows_[known->second].sums;
  // A device's clock may step back by a little; a record may lack its end.
  const int64_t duration_ns = std::max<int64_t>(record.end_ns - record.begin_ns, 0);
  sums.min_ns = sums.count == 0 ? duration_ns : std::min(sums.min_ns, duration_ns);
  sums.max_ns = std::max(sums.max_ns, duration_ns);
  sums.sum_ns += duration_ns;
  const auto duration = static_cast<double>(duration_ns);
  sums.sum_sq += duration * duration;
  sums.bytes += record.bytes;
  ++sums.count;
  ++records_;
  return folded;
}

std::vector<WorkRow> WorkTable::changed(std::vector<uint64_t>& seen) const {
  std::vector<WorkRow> out;
  seen.resize(rows_.size(), 0);
  for (const WorkRow& row : rows_) {
    // A row changes only by more work.
    if (seen[row.row] == row.sums.count) continue;
    seen[row.row] = row.sums.count;
    out.push_back(row);
  }
  return out;
}

void WorkTable::clear() {
  ids_.clear();
  rows_.clear();
  records_ = 0;
}

}  // namespace dctx::monitor::gpu
